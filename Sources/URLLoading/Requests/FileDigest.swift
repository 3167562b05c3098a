internal import UncurlEngine
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// The hash of a file that is sent, for a server that protects content (`auth-int`, RFC 7616 §3.4.3).
struct FileDigest: Sendable {
    private let file: FileBody
    private let function: MessageDigest

    /// Nil where the next request needs no hash.
    init?(of content: UploadContent, for machine: borrowing AnswerMachine) {
        guard case .body(.file(let file)) = content, let function = machine.contentDigest else { return nil }
        self.file = file
        self.function = function
    }

    /// Reads the file piece by piece, which blocks on the disk. Nil where it cannot be read to its end or is no longer
    /// needed.
    func compute(while isWanted: () -> Bool) -> [UInt8]? {
        guard let open = try? file.open(), var digest = RunningDigest(function) else { return nil }
        var position = file.offset
        let end = file.offset + file.length
        while position < end {
            let wanted = Int(min(FileDigest.pieceSize, end - position))
            guard isWanted(), let piece = try? open.read(at: position, atMost: wanted), !piece.isEmpty,
                digest.add(piece.span)
            else { return nil }
            position += UInt64(piece.count)
        }
        return digest.finish()
    }

    /// The most bytes of a file in memory at a time.
    private static let pieceSize: UInt64 = 1 << 20
}
