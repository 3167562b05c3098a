internal import UncurlReactor
internal import UncurlTLS

/// A connection that is opened only to test it: ``Engine/probe(_:then:)``. Loop-confined.
///
/// ```
///   dialling (Dial) ──▶ parting (the end of an unused connection) ──▶ over
///          └───────────────── failed, abandoned ───────────────────────▲
/// ```
final class Probe: ReadinessHandler, TimerHandler {
    typealias Answer = Result<ConnectionRecord, EngineError>
    typealias Ended = (Probe, Answer) -> Void

    private let loop: EventLoop
    /// The completion, which is called once. Its reference to the engine ends with the call.
    private var ended: Ended?
    /// Both nil while it is dialled.
    private var link: Link?
    private var record: ConnectionRecord?
    private var timer: TimerID?
    /// Whether the call that made it has not returned: then a failure is reported later.
    private var isStarting = true

    init(on loop: EventLoop, ended: @escaping Ended) {
        self.loop = loop
        self.ended = ended
    }

    func start(_ body: () -> Void) {
        body()
        isStarting = false
    }

    func failed(_ error: EngineError) {
        guard isStarting else { return end(.failure(error)) }
        let bound = LoopBound(self, on: loop)
        loop.post { bound.value.end(.failure(error)) }
    }

    func succeeded(_ record: ConnectionRecord) { end(.success(record)) }

    /// Sends close_notify and FIN, and then reads to the peer's end. With TLS 1.3 that brings the tickets, and the
    /// alert of a server that refuses the client certificate: both come after the client's side of the handshake is
    /// done.
    func part(_ link: consuming Link, _ record: ConnectionRecord, at limit: Instant) {
        self.record = record
        link.secure?.closeWriting()
        try? link.flushSecure()
        // Data that the kernel has no room for is not waited for: the FIN would overtake it.
        if link.secure?.hasUnsent != true, link.secure?.isInside != true { link.shutdownWrite() }
        loop.handOver(link.token, to: self)
        link.updateInterest(reading: true, writing: false)
        self.link = consume link
        if limit < .never { timer = loop.arm(at: limit, self) }
    }

    func ready(_ readiness: Readiness) {
        guard let record else { return }
        let buffer = loop.readBuffer
        guard let result = try? link?.read(into: buffer) else { return end(.success(record)) }
        switch result {
        case .wouldBlock:
            return
        case .endOfStream:
            end(.success(record))
        case .bytes(let count):
            guard let layer = link?.secure else { return }
            _ = buffer.withBytes(count) { layer.decrypt($0) }
            switch layer.ending {
            case nil: break
            case .failed(.alert(let alert)): end(.failure(.tls(.alert(alert))))
            case .closed, .failed: end(.success(record))
            }
        }
    }

    /// The peer has not closed its side in time. The probe has still succeeded: the connection was opened.
    func timerFired(_ id: TimerID) {
        timer = nil
        guard let record else { return }
        link?.close(abruptly: true)
        end(.success(record))
    }

    func abandon() {
        link?.close(abruptly: true)
        end(.failure(.shutDown))
    }

    private func end(_ outcome: Answer) {
        guard let ended = ended.take() else { return }
        link?.drop()
        link = nil
        if let timer { loop.cancel(timer) }
        timer = nil
        record = nil
        ended(self, outcome)
    }
}

/// A connection that is being opened for a caller, by ``Engine/open(_:options:then:)`` or
/// ``Engine/secure(_:as:having:options:then:)``. Loop-confined.
public final class StreamDial {
    typealias Answer = Result<UpgradedConnection, EngineError>

    private let loop: EventLoop
    private let cancelled: (StreamDial) -> Void
    private var then: ((Answer) -> Void)?
    /// Whether the call that made it has not returned: then its outcome is reported later.
    private var isStarting = true

    /// - Parameter cancelled: gives up the dial under way, if there is one.
    init(on loop: EventLoop, cancelled: @escaping (StreamDial) -> Void, then: @escaping (Answer) -> Void) {
        self.loop = loop
        self.cancelled = cancelled
        self.then = then
    }

    /// Gives the dial up. The completion is not called.
    public func cancel() {
        guard then != nil else { return }
        then = nil
        cancelled(self)
    }

    func start(_ body: () -> Void) {
        body()
        isStarting = false
    }

    func ended(_ outcome: Answer) {
        guard isStarting else { return tell(outcome) }
        let later = LoopBound((self, outcome), on: loop)
        loop.post { later.value.0.tell(later.value.1) }
    }

    private func tell(_ outcome: Answer) {
        // If it was cancelled meanwhile, the connection has no owner.
        guard let then else {
            if case .success(let connection) = outcome { connection.close() }
            return
        }
        self.then = nil
        then(outcome)
    }
}
