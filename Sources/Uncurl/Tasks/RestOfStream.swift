internal import Foundation

/// A stream without its first octets: the rest of an upload that resumes. The first octets are read when the stream is
/// opened, which happens on the thread that reads it.
final class RestOfStream: InputStream {
    private let whole: InputStream
    private let offset: Int64
    private var isTooShort = false

    init(_ whole: InputStream, from offset: Int64) {
        (self.whole, self.offset) = (whole, offset)
        super.init(data: Data())
    }

    override func open() {
        whole.open()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var left = offset
        while left > 0 {
            let room = Int(min(left, Int64(buffer.count)))
            let count = unsafe buffer.withUnsafeMutableBufferPointer { buffer in
                unsafe buffer.baseAddress.map { unsafe whole.read($0, maxLength: room) } ?? 0
            }
            isTooShort = count == 0
            guard count > 0 else { return }
            left -= Int64(count)
        }
    }

    override func close() { whole.close() }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        unsafe whole.read(buffer, maxLength: len)
    }

    override var hasBytesAvailable: Bool { whole.hasBytesAvailable }

    override var streamStatus: Stream.Status { isTooShort ? .error : whole.streamStatus }

    override var streamError: (any Error)? {
        guard isTooShort else { return whole.failure }
        let words = "The new stream of the request's content ends before octet \(offset), which the server has."
        return URLError(.requestBodyStreamExhausted, userInfo: [NSLocalizedDescriptionKey: words])
    }
}
