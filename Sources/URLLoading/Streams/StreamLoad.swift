internal import Foundation
internal import Synchronization
internal import UncurlClient
internal import UncurlEngine
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// A stream task's connection on its session's loop. It matches bytes with the reads that ask for them. Loop-confined.
///
/// ```
///   fresh ──▶ connecting ──▶ open(connection) ⇄ securing          any ──▶ stopped
///     ├──▶ answer (content of an HTTP answer)      │
///     └──▶ held(connection) ──▶ open               └──▶ closed: both directions; what is left can be read
/// ```
final class StreamLoad: WishWorker, AnswerSource {
    enum State {
        case fresh(Origin)
        case connecting(StreamDial)
        /// After a switch of protocols, while the delegate is asked.
        case held(UpgradedConnection)
        case open(UpgradedConnection)
        case securing(StreamDial)
        /// The content of an answer, which the load receives; there is no peer to write to.
        case answer
        case closed
        case stopped
    }

    /// What has become of reading, or of writing.
    enum Direction {
        case open
        /// Reading: closed by the peer. Writing: a write was cut off, and the peer would read what follows as its rest.
        case ended
        case closed
    }

    /// A wish of the program that is not fulfilled.
    struct Work {
        let wish: StreamWish
        /// A read's own, or the number of a write among all writes.
        let number: UInt64
        let limit: StreamLimit?
        /// How many of a write's bytes have been given to the connection and have not left yet; nil before any were
        /// given.
        var left: Int?

        var isRead: Bool { if case .read = wish { true } else { false } }
        var isWrite: Bool { if case .write = wish { true } else { false } }

        /// The wish as it waits for the task's end: nothing of it is done any more.
        var ended: StreamWish {
            if case .write(_, _, let reply) = wish { .write(Data(), timeout: 0, reply) } else { wish }
        }
    }

    /// The most that is read ahead of the program's reads, in bytes: one full read of the loop.
    private static let ahead = 64 << 10

    /// The delegate, until the load is over.
    private(set) var delegate: (any LoadDelegate)?
    let engine: SessionEngine
    /// The origin. A connection that was HTTP keeps the host that it was made for.
    let origin: Origin?
    private var channel: StreamChannel?
    private var state: State
    /// The work that has not begun: it waits behind a barrier, or for the connection.
    private var line: [Work] = []
    private var reads: [Work] = []
    private var writes: [Work] = []
    private var input = OctetQueue()
    private var reading = Direction.open
    private var writing = Direction.open
    private var isFull = false
    private var isReadingHeld = false
    /// Whether the task is suspended: then nothing is sent, and no barrier takes effect.
    private var isSendingHeld = false
    private var lastWrite: UInt64 = 0

    init(_ delegate: any LoadDelegate, _ engine: SessionEngine, _ channel: StreamChannel, to origin: Origin) {
        (self.delegate, self.engine, self.channel, self.origin) = (delegate, engine, channel, origin)
        state = .fresh(origin)
    }

    /// Makes a load of an answer's content.
    init(_ delegate: any LoadDelegate, _ engine: SessionEngine, of channel: StreamChannel) {
        (self.delegate, self.engine, self.channel, origin) = (delegate, engine, channel, nil)
        (state, writing) = (.answer, .closed)
    }

    /// Makes a load of a connection that was HTTP, and that no task has asked for yet.
    init(_ delegate: any LoadDelegate, _ engine: SessionEngine, on connection: UpgradedConnection, to origin: Origin?) {
        (self.delegate, self.engine, self.origin) = (delegate, engine, origin)
        state = .held(connection)
    }

    func begin(_ channel: StreamChannel? = nil) {
        if let channel { self.channel = channel }
        switch state {
        case .fresh(let origin): connect(to: origin)
        case .held(let connection): opened(.success(connection))
        case .connecting, .open, .securing, .answer, .closed, .stopped: break
        }
        guard let channel = self.channel, let delegate else { return }
        for wish in channel.open(LoopBound(self, on: engine.loop), delegate.callbacks) { take(wish) }
    }

    private func connect(to origin: Origin) {
        guard let delegate, let options = try? engine.streamOptions(to: origin, of: delegate, isSecured: false) else {
            return
        }
        state = .connecting(engine.engine.open(origin, options: options) { [weak self] in self?.opened($0) })
    }

    func opened(_ result: Result<UpgradedConnection, EngineError>) {
        switch result {
        case .success(let connection):
            state = .open(connection)
            if isReadingHeld || isFull { connection.pause() }
            connection.hold(isSendingHeld)
            connection.start(self)
            advance()
        case .failure(let error): delegate?.end(URLError(error, nil))
        }
    }

    // MARK: For the task

    func take(_ wish: StreamWish) {
        if case .stopped = state {
            // The wish was on its way when the load stopped.
            channel?.ask(wish)
            return
        }
        switch wish {
        case .read(let reading):
            let number = reading.number
            let limit = limit(reading.timeout) { $0.readTimedOut(number) }
            line.append(Work(wish: wish, number: number, limit: limit))
        case .write(_, let timeout, _):
            lastWrite += 1
            let number = lastWrite
            let limit = limit(timeout) { $0.writeTimedOut(number) }
            line.append(Work(wish: wish, number: number, limit: limit))
        case .closeRead, .closeWrite, .capture, .startSecurity, .stopSecurity:
            line.append(Work(wish: wish, number: 0, limit: nil))
        }
        advance()
    }

    func takeBack(_ number: UInt64) {
        guard let channel, let read = removeRead(number) else { return }
        fail(read, channel.withdrawal)
        advance()
    }

    func hold(reading: Bool, sending: Bool) {
        (isReadingHeld, isSendingHeld) = (reading, sending)
        for limit in limits { sending ? limit.stand() : limit.go() }
        if case .open(let connection) = state { connection.hold(sending) }
        advance()
    }

    private func limit(_ seconds: TimeInterval, _ act: @escaping (StreamLoad) -> Void) -> StreamLimit? {
        StreamLimit(seconds, on: engine.loop, isStanding: isSendingHeld) { [weak self] in
            if let self { act(self) }
        }
    }

    private var limits: [StreamLimit] { (reads + writes + line).compactMap(\.limit) }

    // MARK: In order

    func advance() {
        while isReady, let next = line.first {
            if next.isRead {
                reads.append(line.removeFirst())
            } else if next.isWrite {
                writes.append(line.removeFirst())
            } else {
                serve()
                guard isReady, reads.isEmpty, writes.isEmpty, !isSendingHeld else { return }
                line.removeFirst()
                perform(next.wish)
            }
        }
        serve()
        endIfDone()
    }

    private var isReady: Bool {
        switch state {
        case .open, .answer, .closed: true
        case .fresh, .held, .connecting, .securing, .stopped: false
        }
    }

    private func serve() {
        guard isReady else { return }
        serveReads()
        serveWrites()
        updateReading()
    }

    private func serveReads() {
        while let first = reads.first, case .read(let asked) = first.wish {
            guard input.count >= asked.minimum || reading != .open else { return }
            reads.removeFirst()
            first.limit?.cancel()
            if reading == .closed {
                fail(first, broken("reading has been closed"))
                continue
            }
            let count = min(asked.maximum, input.count)
            let data = count > 0 ? input.take(count) : nil
            delegate?.pass(asked.reply.answer(.success((data, reading == .ended && input.isEmpty))))
        }
    }

    private func serveWrites() {
        while let first = writes.first, case .write(let data, _, let reply) = first.wish {
            if writing != .open {
                fail(first, broken(writing == .closed ? "writing has been closed" : "an earlier write was cut off"))
                writes.removeFirst()
                continue
            }
            guard case .open(let connection) = state, !data.isEmpty else {
                // There is nothing to wait for.
                first.limit?.cancel()
                delegate?.pass(reply.answer(.success(())))
                writes.removeFirst()
                continue
            }
            guard first.left == nil, !isSendingHeld else { return }
            writes[0].left = data.count
            return connection.write([UInt8](data))
        }
    }

    private func fail(_ work: Work, _ error: URLError) {
        work.limit?.cancel()
        if let answer = work.wish.failure(error) { delegate?.pass(answer) }
    }

    private func broken(_ reason: String) -> URLError {
        URLError(.networkConnectionLost, nil, reason)
    }

    private func updateReading() {
        var wanted = 0
        if case .read(let first)? = reads.first?.wish { wanted = first.minimum }
        let wasFull = isFull
        isFull = input.count >= max(StreamLoad.ahead, wanted) || (isFull && input.count > StreamLoad.ahead / 2)
        // A read that waits for more than the limit must get it.
        if input.count < wanted { isFull = false }
        switch state {
        case .open(let connection):
            if isFull || isReadingHeld { connection.pause() } else { connection.resume() }
        case .answer:
            if isFull { delegate?.fallBehind() } else if wasFull { delegate?.catchUp() }
        case .fresh, .held, .connecting, .securing, .closed, .stopped: break
        }
    }

    // MARK: From the connection

    /// Takes content of an answer.
    func receive(_ bytes: Span<UInt8>) {
        guard reading == .open else { return }
        input.append(bytes)
        advance()
    }

    /// Notes that the content is complete.
    func answerEnded() {
        guard case .answer = state else { return }
        state = .closed
        readingEnded()
    }

    func readingEnded() {
        if reading == .open {
            reading = .ended
            tellReadClosed()
        }
        advance()
    }

    func tellReadClosed() {
        if let delegate, delegate.task is URLSessionStreamTask { delegate.tell(.readClosed) }
    }

    // MARK: Ends

    private func endIfDone() {
        guard isReady, reading != .open, writing != .open, input.isEmpty else { return }
        guard line.isEmpty, reads.isEmpty, writes.isEmpty else { return }
        delegate?.end(nil)
    }

    func stop() {
        if case .stopped = state { return }
        let last = state
        state = .stopped
        for limit in limits { limit.cancel() }
        channel?.giveBack((reads + writes + line).map(\.ended)) { $0 = reading == .ended && input.isEmpty }
        (reads, writes, line, input) = ([], [], [], OctetQueue())
        delegate = nil
        switch last {
        case .connecting(let dial), .securing(let dial): dial.cancel()
        // Content that is cut off must not look complete.
        case .held(let connection), .open(let connection):
            connection.close(abruptly: connection.queuedBytes > 0 || writing == .ended)
        case .fresh, .answer, .closed, .stopped: break
        }
    }

    private func readTimedOut(_ number: UInt64) {
        guard let read = removeRead(number) else { return }
        let error = URLError(.timedOut, nil, "no data came within the time limit")
        fail(read, error)
        advance()
    }

    private func removeRead(_ number: UInt64) -> Work? {
        if let index = reads.firstIndex(where: { $0.number == number }) { return reads.remove(at: index) }
        return line.firstIndex { $0.isRead && $0.number == number }.map { line.remove(at: $0) }
    }

    private func writeTimedOut(_ number: UInt64) {
        let error = URLError(.timedOut, nil, "the peer did not take the data within the time limit")
        if let index = writes.firstIndex(where: { $0.number == number }) {
            let write = writes.remove(at: index)
            // The part that the connection has will still be sent, if the peer takes it.
            if write.left != nil { writing = .ended }
            fail(write, error)
        } else {
            guard let index = line.firstIndex(where: { $0.isWrite && $0.number == number }) else { return }
            fail(line.remove(at: index), error)
        }
        advance()
    }
}

/// The time limit of one read or write. The time stops while the task is suspended. Loop-confined.
final class StreamLimit: TimerHandler {
    private let loop: EventLoop
    private let act: () -> Void
    /// The timer while the time runs.
    private var timer: (id: TimerID, end: Instant)?
    /// What is left of the time while it stands, in nanoseconds.
    private var left: Int64?

    /// - Parameters:
    ///   - seconds: the limit; if it means no limit (`Duration.limit(_:)`), the initialiser returns nil.
    ///   - isStanding: whether the task is suspended already.
    init?(_ seconds: TimeInterval, on loop: EventLoop, isStanding: Bool, _ act: @escaping () -> Void) {
        guard let limit = Duration.limit(seconds) else { return nil }
        (self.loop, self.act) = (loop, act)
        left = limit.wholeNanoseconds
        if !isStanding { go() }
    }

    func go() {
        guard let left = left.take() else { return }
        let end = loop.now.advanced(byNanoseconds: left)
        timer = (loop.arm(at: end, self), end)
    }

    func stand() {
        guard let (id, end) = timer.take() else { return }
        loop.cancel(id)
        left = max(0, end.nanoseconds(since: loop.now))
    }

    func cancel() {
        if let timer = timer.take() { loop.cancel(timer.id) }
        left = nil
    }

    func timerFired(_ id: TimerID) {
        timer = nil
        act()
    }
}

/// The wishes of a stream task that take effect after all earlier wishes and before all later ones.
extension StreamLoad {
    func perform(_ wish: StreamWish) {
        switch wish {
        case .closeRead:
            guard reading != .closed else { return }
            let wasOpen = reading == .open
            (reading, input) = (.closed, OctetQueue())
            if wasOpen { tellReadClosed() }
        case .closeWrite: closeWriting()
        case .stopSecurity: if isSecure { closeWriting() }
        case .startSecurity: if !isSecure { secure() }
        case .capture: capture()
        case .read, .write: break
        }
    }

    private var isSecure: Bool {
        if case .open(let connection) = state { connection.record.security != nil } else { false }
    }

    private func closeWriting() {
        guard writing != .closed else { return }
        // A FIN after half of a write would make it look complete.
        if case .open(let connection) = state, writing == .open { connection.finishWriting(keepsReading: true) }
        writing = .closed
        if let delegate, delegate.task is URLSessionStreamTask { delegate.tell(.writeClosed) }
    }

    private func secure() {
        guard let delegate else { return }
        guard case .open(let connection) = state, reading == .open, writing == .open else {
            let reason = "there is no connection left to secure"
            return delegate.end(URLError(.secureConnectionFailed, nil, reason))
        }
        do {
            guard let origin else { return }
            let options = try engine.streamOptions(to: origin, of: delegate, isSecured: true)
            let rest = input.rest
            input = OctetQueue()
            state = .securing(
                engine.engine.secure(connection, as: origin, having: rest, options: options) { [weak self] in
                    self?.opened($0)
                }
            )
        } catch {
            delegate.end(URLError(.secureConnectionFailed, nil, error))
        }
    }

    private func capture() {
        guard let delegate else { return }
        guard case .open(let connection) = state else {
            let reason = "there is no connection to capture"
            return delegate.end(URLError(.networkConnectionLost, nil, reason))
        }
        state = .closed
        let rest = input.rest
        input = OctetQueue()
        let streams = CapturedStreams(
            connection,
            having: rest,
            isReadable: reading == .open,
            isWritable: writing == .open
        )
        delegate.end(handingOver: streams)
    }
}

extension StreamLoad {
    /// Whether no task has asked for the connection on which HTTP has ended.
    var isUntaken: Bool { if case .held = state { true } else { false } }
}

extension StreamLoad: UpgradedConnectionDelegate {
    func connection(_ connection: UpgradedConnection, didReceive bytes: Span<UInt8>) {
        delegate?.count(received: bytes.count)
        receive(bytes)
    }

    func connection(_ connection: UpgradedConnection, didSend count: Int) {
        delegate?.count(sent: count)
        guard let first = writes.first, let left = first.left, case .write(_, _, let reply) = first.wish else { return }
        guard left <= count else {
            writes[0].left = left - count
            return
        }
        writes.removeFirst()
        first.limit?.cancel()
        delegate?.pass(reply.answer(.success(())))
        advance()
    }

    func connectionDidFinishReading(_ connection: UpgradedConnection) { readingEnded() }

    func connection(_ connection: UpgradedConnection, didClose error: EngineError?) {
        if let error {
            delegate?.end(URLError(error, nil))
        } else {
            state = .closed
            readingEnded()
        }
    }
}

extension SessionEngine {
    /// Returns the options of a stream's connection. Like https it goes through a proxy's tunnel, but no HTTP is sent
    /// to the peer.
    ///
    /// - Parameters:
    ///   - origin: the peer. Its proxy is that of https.
    ///   - load: whose session's rules TLS follows, and whose task's delegate may answer for it.
    ///   - isSecured: whether TLS is spoken with the peer.
    func streamOptions(
        to origin: Origin,
        of load: any LoadDelegate,
        isSecured: Bool
    ) throws(TLSError) -> EngineRequest.Options {
        var options = EngineRequest.Options()
        options.timeouts = Timeouts(
            connect: Duration.limit(settings.requestTimeout),
            poolWait: nil,
            responseHead: nil,
            idle: nil,
            total: nil
        )
        // A setting that names no proxy has failed the task before.
        var proxies = (try? client.route(for: .https, origin.host).get()) ?? .direct
        proxies.http = proxies.https
        options.proxies = proxies
        if proxies.areSecure { ask(load.session) }
        options.trustEvaluator = ownSecurity(load.task.listener, in: load.session)
        if isSecured { options.tls = try streamContext(of: load.session) }
        return options
    }
}
