@_spi(SwiftCorelibsFoundation) public import Foundation
internal import URLLoading

/// Loads what `NSData(contentsOf:)`, `NSString(contentsOf:)` and `XMLParser(contentsOf:)` are given for URLs that are
/// no files.
///
/// Foundation finds this class by its name in the module FoundationNetworking, and blocks the calling thread while it
/// loads.
public final class _NSNonfileURLContentLoader: _NSNonfileURLContentLoading {
    public init() {}

    public func contentsOf(url: URL) throws -> (result: NSData, textEncodingNameIfAvailable: String?) {
        let loaded = try URLSession.contents(of: url)
        return (NSData(data: loaded.data), loaded.encoding)
    }
}
