internal import Foundation

/// The reading half of a captured connection.
final class CapturedInputStream: InputStream {
    private let pipe: CapturedConnection
    private var isOpened = false
    private var isOver = false
    private var isClosed = false
    private weak var listener: (any StreamDelegate)?

    init(_ pipe: CapturedConnection) {
        self.pipe = pipe
        super.init(data: Data())
    }

    deinit { if !isClosed { pipe.closeInput() } }

    override var delegate: (any StreamDelegate)? {
        get { listener }
        set { listener = newValue }
    }

    override func open() { isOpened = true }

    override func close() {
        guard !isClosed else { return }
        isClosed = true
        pipe.removeListeners(of: self)
        pipe.closeInput()
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard isOpened, !isClosed else { return -1 }
        let count = unsafe pipe.read(into: buffer, atMost: len)
        if count == 0 { isOver = true }
        return count
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override var hasBytesAvailable: Bool { isOpened && !isClosed && pipe.hasInput }

    override var streamStatus: Stream.Status {
        if isClosed { return .closed }
        guard isOpened else { return .notOpen }
        if pipe.withState({ $0.failure != nil && $0.input.isEmpty }) { return .error }
        return isOver ? .atEnd : .open
    }

    override var streamError: (any Error)? { pipe.withState { $0.failure } }

    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        pipe.add(StreamListener(stream: self, isInput: true, runLoop: aRunLoop, mode: mode))
    }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { pipe.removeListeners(of: self) }
}
