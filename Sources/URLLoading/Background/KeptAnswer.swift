internal import Foundation
internal import UncurlReactor

/// The content of an upload's answer, kept for a delegate in another process: in memory while it is short, otherwise in
/// a file.
struct KeptAnswer: Sendable {
    /// The most octets in memory; a record holds them besides its request.
    static let mostInMemory = 1 << 20

    private(set) var data: Data? = Data()
    private var file: DownloadFile?

    /// Adds content. Returns false if the disk refuses it; then the whole answer is dropped.
    ///
    /// - Parameter path: returns the path of the file, once one is needed.
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

    /// Ends the complete answer. Returns its file, if it has one that the disk has not refused.
    func finish() -> (path: String, sum: ContentSum?)? {
        guard let file, (try? file.checkWrites()) != nil else {
            drop()
            return nil
        }
        file.finish(keeping: true)
        return (file.url.path, file.sum)
    }

    /// Drops the answer, which is no longer needed.
    func drop() { file?.finish(keeping: false) }

    /// Passes on a file's octets in pieces. Blocks on the disk.
    static func read(_ file: OpenFile, _ give: (Data) -> Void) throws(Errno) {
        var offset: UInt64 = 0
        while true {
            let piece = try file.read(at: offset, atMost: 256 << 10)
            if piece.isEmpty { return }
            offset += UInt64(piece.count)
            give(Data(piece))
        }
    }
}
