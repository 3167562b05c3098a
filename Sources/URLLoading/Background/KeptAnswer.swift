internal import Foundation
internal import Reactor

/// An upload's answer, kept for a delegate in another process: in memory while it is short, and else in a file.
struct KeptAnswer: Sendable {
    /// In octets: what a record holds besides its request.
    static let mostInMemory = 1 << 20

    private(set) var data: Data? = Data()
    private var file: DownloadFile?

    /// False: the disk does not take it, and nothing of it is kept.
    ///
    /// - Parameter path: of the file, once one is needed.
    mutating func append(_ more: Data, _ path: () -> String) -> Bool {
        if let count = data?.count, count + more.count <= KeptAnswer.mostInMemory {
            data?.append(more)
            return true
        }
        do throws(URLError) {
            let file: DownloadFile
            if let open = self.file { file = open } else { file = try DownloadFile(for: nil, at: path()) }
            self.file = file
            if let short = data.take() { try file.write(Array(short).span) }
            try file.write(Array(more).span)
            return true
        } catch {
            drop()
            return false
        }
    }

    /// The answer is whole. Its file, if it has one.
    func finish() -> (path: String, sum: ContentSum?)? {
        file?.finish(keeping: true)
        return file.map { ($0.url.path, $0.sum) }
    }

    /// It is not needed any more.
    func drop() { file?.finish(keeping: false) }

    /// Gives a file's octets in pieces; blocks for the disk. What cannot be read is not there.
    static func read(_ path: String, _ give: (Data) -> Void) {
        guard let file = try? OpenFile(path: path) else { return }
        var offset: UInt64 = 0
        while let piece = try? file.read(at: offset, atMost: 256 << 10), !piece.isEmpty {
            offset += UInt64(piece.count)
            give(Data(piece))
        }
    }
}
