internal import Reactor

/// How far one sending of a ``SegmentedBody`` has come. Holds one file open at a time.
final class SegmentReader {
    enum Next {
        case bytes([UInt8])
        /// So many bytes of a file, from there on.
        case file(OpenFile, offset: UInt64, count: UInt64)
        case end
    }

    /// A file being sent.
    private struct Reading {
        let file: OpenFile
        var offset: UInt64
        var left: UInt64
    }

    private let body: SegmentedBody
    private var index = 0
    private var reading: Reading?
    /// Bytes given so far.
    private var given: UInt64 = 0

    init(_ body: SegmentedBody) { self.body = body }

    /// Bytes in memory count as given with this call; of a file's, ``advance(_:)`` says how many were.
    func next() throws(EngineError) -> Next {
        while true {
            if let reading {
                if reading.left > 0 { return .file(reading.file, offset: reading.offset, count: reading.left) }
                self.reading = nil
            }
            guard index < body.segments.count else { return .end }
            let segment = body.segments[index]
            index += 1
            switch segment {
            case .bytes(let bytes):
                guard !bytes.isEmpty else { continue }
                given += UInt64(bytes.count)
                return .bytes(bytes)
            case .file(let body):
                guard body.length > 0 else { continue }
                reading = Reading(file: try body.open(), offset: body.offset, left: body.length)
            }
        }
    }

    /// `count` more bytes of the current file were given; none means that the file has become shorter.
    func advance(_ count: Int) throws(EngineError) {
        guard count > 0 else { throw .bodyLengthMismatch(declared: body.length, given: given) }
        given += UInt64(count)
        guard var reading else { return }
        reading.offset += UInt64(count)
        reading.left -= min(UInt64(count), reading.left)
        self.reading = reading
    }
}
