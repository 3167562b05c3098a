internal import URLLoading
internal import UncurlEngine
internal import UncurlReactor

/// Reads a form as bytes, from any offset and in any sizes. A file or a stream is opened when the reader reaches it,
/// and closed after its last byte. One thread may use it at a time. Reads block on files and streams.
///
/// ```
///   boundary and fields ──▶ content ──▶ boundary and fields … ──▶ closing boundary ──▶ end
///             └────────────────┴─────────────── failed ◀──────┘
/// ```
/// A read returns the bytes before an error. The next read throws the error, and so does each later one.
public final class MultipartReader {
    private enum State {
        case between
        case bytes([UInt8], at: Int)
        case file(FileBody, OpenFile, offset: UInt64, left: UInt64)
        case stream(any BlockingReader)
        case failed(MultipartFailure)
        case closed
    }

    /// The most bytes that one read takes from a file or a stream: the memory is allocated before the length is known.
    private static let longest = 1 << 20

    private let parts: [Content]
    private var next = 0
    private var state = State.between
    /// The offset of the next byte to be read.
    public private(set) var offset: UInt64 = 0

    /// A reader at the start of the form. It opens nothing yet.
    public init(_ form: MultipartForm) { parts = form.content.parts }

    deinit { close() }

    /// Closes the open file or stream. Later reads return no bytes. Further calls have no effect.
    public func close() {
        if case .stream(let reader) = state { reader.close() }
        state = .closed
    }

    /// Skips bytes: in memory and in files without reading them, in streams by reading them. At the end it skips
    /// nothing.
    public func skip(_ count: UInt64) throws(MultipartFailure) {
        var left = count
        while left > 0 {
            guard try prepare() else { return }
            let step: UInt64
            switch state {
            case .bytes(let bytes, let position):
                step = min(left, UInt64(bytes.count - position))
                state = .bytes(bytes, at: position + Int(step))
            case .file(let body, let file, let position, let rest):
                step = min(left, rest)
                state = .file(body, file, offset: position + step, left: rest - step)
            case .stream(let reader):
                step = UInt64(try read(reader, Int(min(left, 64 << 10))).count)
            case .between, .failed, .closed:
                return
            }
            left -= step
            offset += step
        }
    }

    /// The next bytes: at least one and at most `count`. At the end, and after ``close()``, there are none.
    public func read(atMost count: Int) throws(MultipartFailure) -> [UInt8] {
        guard count > 0 else { return [] }
        while try prepare() {
            let bytes: [UInt8]
            switch state {
            case .bytes(let all, let position):
                bytes = Array(all[position...].prefix(count))
                state = .bytes(all, at: position + bytes.count)
            case .file(let body, let file, let position, let left):
                bytes = try read(file, body, at: position, Int(min(UInt64(min(count, Self.longest)), left)))
                state = .file(body, file, offset: position + UInt64(bytes.count), left: left - UInt64(bytes.count))
            case .stream(let reader):
                bytes = try read(reader, min(count, Self.longest))
            case .between, .failed, .closed:
                bytes = []
            }
            guard !bytes.isEmpty else { continue }
            offset += UInt64(bytes.count)
            return bytes
        }
        return []
    }

    /// Moves to the next part when one has been read. False at the end.
    private func prepare() throws(MultipartFailure) -> Bool {
        switch state {
        case .bytes(let bytes, let position) where position < bytes.count: return true
        case .file(_, _, _, let left) where left > 0: return true
        case .stream: return true
        case .failed(let failure): throw failure
        case .closed: return false
        case .between, .bytes, .file: break
        }
        guard next < parts.count else {
            state = .between
            return false
        }
        let part = parts[next]
        next += 1
        switch part {
        case .none, .stream, .parts: break
        case .bytes(let bytes):
            state = .bytes(bytes, at: 0)
        case .file(let body):
            state = .file(body, try open(body), offset: body.offset, left: body.length)
        case .threaded(let body):
            do {
                state = .stream(try body.open())
            } catch {
                throw failed(error as? MultipartFailure ?? .notReplayable)
            }
        }
        return try prepare()
    }

    private func open(_ file: FileBody) throws(MultipartFailure) -> OpenFile {
        do throws(EngineError) {
            return try file.open()
        } catch {
            throw failed(.fileChanged(reason: "\(error)"))
        }
    }

    private func read(
        _ file: OpenFile,
        _ body: FileBody,
        at offset: UInt64,
        _ count: Int
    ) throws(MultipartFailure) -> [UInt8] {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try file.read(at: offset, atMost: count)
        } catch {
            throw failed(.fileUnreadable(URL(fileURLWithPath: body.path ?? ""), reason: "\(error)"))
        }
        guard !bytes.isEmpty else { throw failed(.fileChanged(reason: "\(body.path ?? "") has become shorter")) }
        return bytes
    }

    /// Empty where the stream ends and the next part follows.
    private func read(_ reader: any BlockingReader, _ count: Int) throws(MultipartFailure) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try reader.read(atMost: count)
        } catch {
            reader.close()
            throw failed(error as? MultipartFailure ?? .streamFailed(part: "", reason: "\(error)"))
        }
        if bytes.isEmpty {
            reader.close()
            state = .between
        }
        return bytes
    }

    private func failed(_ failure: MultipartFailure) -> MultipartFailure {
        state = .failed(failure)
        return failure
    }
}
