internal import Foundation

/// The writing half of a captured connection.
final class CapturedOutputStream: OutputStream {
    private let pipe: CapturedConnection?
    private var isOpened = false
    private var isClosed = false
    private weak var listener: (any StreamDelegate)?

    init(_ pipe: CapturedConnection) {
        self.pipe = pipe
        super.init(toMemory: ())
    }

    /// Makes a stream that leads nowhere: Foundation requires this initialiser of every subclass.
    required init(toMemory: ()) {
        pipe = nil
        super.init(toMemory: ())
    }

    deinit { if !isClosed { pipe?.closeOutput() } }

    override var delegate: (any StreamDelegate)? {
        get { listener }
        set { listener = newValue }
    }

    override func open() { isOpened = true }

    override func close() {
        guard !isClosed else { return }
        isClosed = true
        pipe?.removeListeners(of: self)
        pipe?.closeOutput()
    }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        guard isOpened, !isClosed, let pipe, len >= 0 else { return -1 }
        return pipe.write(unsafe [UInt8](UnsafeBufferPointer(start: buffer, count: len)))
    }

    override var hasSpaceAvailable: Bool { isOpened && !isClosed && pipe?.hasRoom == true }

    override var streamStatus: Stream.Status {
        if isClosed { return .closed }
        guard isOpened else { return .notOpen }
        return pipe?.withState { $0.failure != nil } == true ? .error : .open
    }

    override var streamError: (any Error)? { pipe?.withState { $0.failure } }

    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        pipe?.add(StreamListener(stream: self, isInput: false, runLoop: aRunLoop, mode: mode))
    }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { pipe?.removeListeners(of: self) }
}
