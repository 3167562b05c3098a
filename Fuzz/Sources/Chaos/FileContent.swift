import Foundation

extension Data {
    /// Reads a file. `Data(contentsOf:)` of Swift 6.3's Foundation leaks a page for each empty file, which would count
    /// as growth here.
    init(ofFile file: URL) throws {
        self = try FileHandle(forReadingFrom: file).readToEnd() ?? Data()
    }
}
