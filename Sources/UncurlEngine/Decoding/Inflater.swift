internal import CUncurlZlib

/// One zlib stream, undoing gzip or deflate. The only file that touches zlib's pointers; fuzzed by
/// FuzzContentDecoder.
@safe final class Inflater: CodedStream {
    private enum State {
        /// Before the first bytes. The first two bytes of a `deflate` stream tell whether it is zlib or raw.
        case start(first: UInt8?)
        case running
        /// After the end of a stream: gzip may begin another member (RFC 1952 §2.2), and zeros may follow as padding.
        case ended
    }

    private let coding: ContentCoding
    /// zlib keeps the address of its `z_stream`, so the stream may never move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var state = State.start(first: nil)

    init(_ coding: ContentCoding) throws(ContentDecodingError) {
        self.coding = coding
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe uncurl_inflateInit2(stream, Inflater.windowBits(coding)) == Z_OK else {
            unsafe stream.deallocate()
            throw .outOfMemory
        }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    func reset() {
        state = .start(first: nil)
        unsafe inflateReset2(stream, Inflater.windowBits(coding))
    }

    var mayEnd: Bool {
        switch state {
        case .start(let first): first == nil
        case .running: false
        case .ended: true
        }
    }

    func decode(
        _ input: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(ContentDecodingError) -> (consumed: Int, produced: Int) {
        var consumed = 0
        while true {
            switch state {
            case .start(let first):
                guard consumed < input.count else { return (consumed, 0) }
                consumed += try unsafe begin(first, input[consumed...])
            case .running:
                let rest = unsafe UnsafeBufferPointer(rebasing: input[consumed...])
                let step = try unsafe run(rest, output)
                consumed += step.consumed
                if step.produced > 0 || consumed == input.count { return (consumed, step.produced) }
                // There was no progress, and this is not the end: the output had no room.
                if case .running = state, step.consumed == 0 { return (consumed, 0) }
            case .ended:
                // Zeros after the last member are common (tar, block devices); other bytes are an error.
                while consumed < input.count, unsafe input[consumed] == 0 { consumed += 1 }
                guard consumed < input.count else { return (consumed, 0) }
                guard coding == .gzip, unsafe input[consumed] == 0x1F else { throw .trailingBytes }
                reset()
                state = .running
            }
        }
    }

    /// Decides on the kind of stream. Returns how many bytes it took.
    private func begin(_ first: UInt8?, _ input: Slice<UnsafeBufferPointer<UInt8>>) throws(ContentDecodingError) -> Int
    {
        guard coding == .deflate else {
            state = .running
            return 0
        }
        guard let byte = unsafe input.first else { return 0 }
        guard let first else {
            state = .start(first: byte)
            return 1
        }
        // RFC 1950 §2.2: method 8, window at most 32 KiB, and both bytes a multiple of 31.
        let isZlib = first & 0x0F == 8 && first >> 4 <= 7 && (UInt16(first) << 8 | UInt16(byte)) % 31 == 0
        unsafe inflateReset2(stream, isZlib ? 15 : -15)
        state = .running
        var held = first
        // One byte yields no output: zlib has not seen a whole header or block yet.
        _ = try unsafe withUnsafePointer(to: &held) { held throws(ContentDecodingError) in
            var nothing: UInt8 = 0
            return try unsafe withUnsafeMutablePointer(to: &nothing) { nothing throws(ContentDecodingError) in
                try unsafe run(
                    UnsafeBufferPointer(start: held, count: 1),
                    UnsafeMutableBufferPointer(start: nothing, count: 0)
                )
            }
        }
        return 0
    }

    private func run(
        _ input: UnsafeBufferPointer<UInt8>,
        _ output: UnsafeMutableBufferPointer<UInt8>
    ) throws(ContentDecodingError) -> (consumed: Int, produced: Int) {
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        unsafe stream.pointee.avail_in = uInt(clamping: input.count)
        unsafe stream.pointee.next_out = output.baseAddress
        unsafe stream.pointee.avail_out = uInt(clamping: output.count)
        let before = unsafe (stream.pointee.avail_in, stream.pointee.avail_out)
        let code = unsafe CUncurlZlib.inflate(stream, Z_NO_FLUSH)
        let consumed = unsafe Int(before.0 - stream.pointee.avail_in)
        let produced = unsafe Int(before.1 - stream.pointee.avail_out)
        switch code {
        case Z_OK, Z_BUF_ERROR:
            break
        case Z_STREAM_END:
            state = .ended
        case Z_NEED_DICT:
            throw .presetDictionary
        case Z_MEM_ERROR:
            throw .outOfMemory
        default:
            throw unsafe .corrupt(stream.pointee.msg.map { unsafe String(cString: $0) } ?? "zlib error \(code)")
        }
        return (consumed, produced)
    }

    private static func windowBits(_ coding: ContentCoding) -> CInt {
        coding == .gzip ? 15 + 16 : 15
    }
}
