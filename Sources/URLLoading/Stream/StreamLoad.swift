internal import Foundation
internal import Synchronization
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
final class StreamLoad: StreamWorker {
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

    enum Reading {
        case open
        /// Closed by the peer.
        case ended
        /// Closed by this side.
        case closed
    }

    enum Writing {
        case open
        /// A write was cut off: the peer would read what follows as its rest.
        case broken
        case closed
    }

    struct Read {
        let reading: StreamReading
        let limit: StreamLimit?
    }

    struct Write {
        let bytes: [UInt8]
        let reply: TaskReply<Void>
        let number: UInt64
        /// How many of the bytes given to the connection have not left yet; nil before any were given.
        var left: Int?
        let limit: StreamLimit?
    }

    enum Work {
        case read(Read)
        case write(Write)
        case barrier(StreamWish)
    }

    /// The most that is read ahead of the program's reads, in bytes: one full read of the loop.
    private static let ahead = 64 << 10

    /// The delegate, until the load is over.
    private(set) var delegate: (any StreamLoadDelegate)?
    let engine: SessionEngine
    /// The origin. A connection that was HTTP keeps the host that it was made for.
    let origin: Origin?
    private var channel: StreamChannel?
    private var state: State
    /// The work that has not begun: it waits behind a barrier, or for the connection.
    private var line: [Work] = []
    private var reads: [Read] = []
    private var writes: [Write] = []
    private var input = OctetQueue()
    private var reading = Reading.open
    private var writing = Writing.open
    private var isFull = false
    private var isReadingHeld = false
    /// Whether the task is suspended: then nothing is sent, and no barrier takes effect.
    private var isSendingHeld = false
    private var lastWrite: UInt64 = 0

    /// Makes a load that is to be connected.
    init(_ delegate: any StreamLoadDelegate, _ engine: SessionEngine, _ channel: StreamChannel, to origin: Origin) {
        (self.delegate, self.engine, self.channel, self.origin) = (delegate, engine, channel, origin)
        state = .fresh(origin)
    }

    /// Makes a load of an answer's content.
    init(_ delegate: any StreamLoadDelegate, _ engine: SessionEngine, of channel: StreamChannel) {
        (self.delegate, self.engine, self.channel, origin) = (delegate, engine, channel, nil)
        (state, writing) = (.answer, .closed)
    }

    /// Makes a load of a connection that was HTTP, and that no task has asked for yet.
    init(
        _ delegate: any StreamLoadDelegate,
        _ engine: SessionEngine,
        on connection: UpgradedConnection,
        to origin: Origin?
    ) {
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
        case .failure(let error): delegate?.end(ErrorTranslation.error(error, nil))
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
            line.append(.read(Read(reading: reading, limit: limit)))
        case .write(let writing):
            lastWrite += 1
            let number = lastWrite
            let limit = limit(writing.timeout) { $0.writeTimedOut(number) }
            let bytes = [UInt8](writing.data)
            line.append(.write(Write(bytes: bytes, reply: writing.reply, number: number, limit: limit)))
        case .closeRead, .closeWrite, .capture, .startSecurity, .stopSecurity:
            line.append(.barrier(wish))
        }
        advance()
    }

    func takeBack(_ number: UInt64) {
        guard let read = removeRead(number) else { return }
        answer(read.reading.reply, .failure(StreamChannel.takenBack))
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

    private var limits: [StreamLimit] {
        let waiting = line.map { work -> StreamLimit? in
            switch work {
            case .read(let read): read.limit
            case .write(let write): write.limit
            case .barrier: nil
            }
        }
        return (reads.map(\.limit) + writes.map(\.limit) + waiting).compactMap(\.self)
    }

    // MARK: In order

    func advance() {
        while isReady, let next = line.first {
            switch next {
            case .read(let read): reads.append(read)
            case .write(let write): writes.append(write)
            case .barrier(let wish):
                serve()
                guard isReady, reads.isEmpty, writes.isEmpty, !isSendingHeld else { return }
                line.removeFirst()
                perform(wish)
                continue
            }
            line.removeFirst()
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
        while let first = reads.first {
            guard input.count >= first.reading.minimum || reading != .open else { return }
            reads.removeFirst()
            first.limit?.cancel()
            if reading == .closed {
                answer(first.reading.reply, .failure(broken("reading has been closed")))
                continue
            }
            let count = min(first.reading.maximum, input.count)
            let data = count > 0 ? input.take(count) : nil
            answer(first.reading.reply, .success((data, reading == .ended && input.isEmpty)))
        }
    }

    private func serveWrites() {
        while let first = writes.first {
            if writing != .open {
                drop(first, broken(writing == .closed ? "writing has been closed" : "an earlier write was cut off"))
                writes.removeFirst()
                continue
            }
            guard case .open(let connection) = state, !first.bytes.isEmpty else {
                // There is nothing to wait for.
                first.limit?.cancel()
                answer(first.reply, .success(()))
                writes.removeFirst()
                continue
            }
            guard first.left == nil, !isSendingHeld else { return }
            writes[0].left = first.bytes.count
            return connection.write(first.bytes)
        }
    }

    private func drop(_ write: Write, _ error: URLError) {
        write.limit?.cancel()
        answer(write.reply, .failure(error))
    }

    private func broken(_ reason: String) -> URLError {
        ErrorTranslation.urlError(.networkConnectionLost, nil, reason)
    }

    private func updateReading() {
        let wanted = reads.first?.reading.minimum ?? 0
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
        guard let delegate, let task = delegate.task as? URLSessionStreamTask else { return }
        delegate.tell(.stream) { session, _, delegate in
            session.recipient(delegate, as: (any URLSessionStreamDelegate).self)?
                .urlSession(session, readClosedFor: task)
        }
    }

    // MARK: Ends

    private func endIfDone() {
        guard isReady, reading != .open, writing != .open, input.isEmpty else { return }
        guard line.isEmpty, reads.isEmpty, writes.isEmpty else { return }
        delegate?.end(nil)
    }

    /// Stops the load: the task is over.
    func stop() {
        if case .stopped = state { return }
        let last = state
        state = .stopped
        let unread = reads.map { StreamWish.read($0.reading) }
        let unwritten = writes.map { StreamWish.write(StreamWriting(data: Data(), timeout: 0, reply: $0.reply)) }
        for limit in limits { limit.cancel() }
        let waiting = line.map { work -> StreamWish in
            switch work {
            case .read(let read): .read(read.reading)
            case .write(let write): .write(StreamWriting(data: Data(), timeout: 0, reply: write.reply))
            case .barrier(let wish): wish
            }
        }
        channel?.giveBack(unread + unwritten + waiting, isAtEnd: reading == .ended && input.isEmpty)
        (reads, writes, line, input) = ([], [], [], OctetQueue())
        delegate = nil
        switch last {
        case .connecting(let dial), .securing(let dial): dial.cancel()
        // Content that is cut off must not look complete.
        case .held(let connection), .open(let connection):
            connection.close(abruptly: connection.queuedBytes > 0 || writing == .broken)
        case .fresh, .answer, .closed, .stopped: break
        }
    }

    private func readTimedOut(_ number: UInt64) {
        guard let read = removeRead(number) else { return }
        let error = ErrorTranslation.urlError(.timedOut, nil, "no data came within the time limit")
        answer(read.reading.reply, .failure(error))
        advance()
    }

    private func removeRead(_ number: UInt64) -> Read? {
        if let index = reads.firstIndex(where: { $0.reading.number == number }) {
            reads[index].limit?.cancel()
            return reads.remove(at: index)
        }
        let index = line.firstIndex { work in
            if case .read(let read) = work { read.reading.number == number } else { false }
        }
        guard let index, case .read(let read) = line.remove(at: index) else { return nil }
        read.limit?.cancel()
        return read
    }

    private func writeTimedOut(_ number: UInt64) {
        let error = ErrorTranslation.urlError(.timedOut, nil, "the peer did not take the data within the time limit")
        if let index = writes.firstIndex(where: { $0.number == number }) {
            let write = writes.remove(at: index)
            // The part that the connection has will still be sent, if the peer takes it.
            if write.left != nil { writing = .broken }
            answer(write.reply, .failure(error))
        } else {
            let index = line.firstIndex { work in
                if case .write(let write) = work { write.number == number } else { false }
            }
            guard let index, case .write(let write) = line.remove(at: index) else { return }
            answer(write.reply, .failure(error))
        }
        advance()
    }

    func answer<Value: Sendable>(_ reply: TaskReply<Value>, _ result: Result<Value, any Error>) {
        switch reply {
        case .awaited(let call): call(result)
        case .handler(let call):
            guard let delegate else { return }
            delegate.later { call(result) }
        }
    }
}

/// The time limit of one read or write. The time stops while the task is suspended. Loop-confined.
final class StreamLimit: TimerHandler {
    private enum State {
        case running(TimerID, until: Instant)
        /// In nanoseconds.
        case standing(left: Int64)
        case over
    }

    private let loop: EventLoop
    private let act: () -> Void
    private var state: State

    /// - Parameters:
    ///   - seconds: the limit; if it means no limit (``RequestBuilder/duration(_:)``), the initialiser returns nil.
    ///   - isStanding: whether the task is suspended already.
    init?(_ seconds: TimeInterval, on loop: EventLoop, isStanding: Bool, _ act: @escaping () -> Void) {
        guard let limit = RequestBuilder.duration(seconds) else { return nil }
        (self.loop, self.act) = (loop, act)
        state = .standing(left: limit.wholeNanoseconds)
        if !isStanding { go() }
    }

    func go() {
        guard case .standing(let left) = state else { return }
        let end = loop.now.advanced(byNanoseconds: left)
        state = .running(loop.arm(at: end, self), until: end)
    }

    func stand() {
        guard case .running(let timer, let end) = state else { return }
        loop.cancel(timer)
        state = .standing(left: max(0, end.nanoseconds(since: loop.now)))
    }

    func cancel() {
        if case .running(let timer, _) = state { loop.cancel(timer) }
        state = .over
    }

    func timerFired(_ id: TimerID) {
        state = .over
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
        guard let delegate, let task = delegate.task as? URLSessionStreamTask else { return }
        delegate.tell(.stream) { session, _, delegate in
            session.recipient(delegate, as: (any URLSessionStreamDelegate).self)?
                .urlSession(session, writeClosedFor: task)
        }
    }

    private func secure() {
        guard let delegate else { return }
        guard case .open(let connection) = state, reading == .open, writing == .open else {
            let reason = "there is no connection left to secure"
            return delegate.end(ErrorTranslation.urlError(.secureConnectionFailed, nil, reason))
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
            delegate.end(ErrorTranslation.urlError(.secureConnectionFailed, nil, error))
        }
    }

    private func capture() {
        guard let delegate else { return }
        guard case .open(let connection) = state else {
            let reason = "there is no connection to capture"
            return delegate.end(ErrorTranslation.urlError(.networkConnectionLost, nil, reason))
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

/// Receives what the connection reports.
extension StreamLoad: UpgradedConnectionDelegate {
    func connection(_ connection: UpgradedConnection, didReceive bytes: Span<UInt8>) {
        count(received: bytes.count)
        receive(bytes)
    }

    func connection(_ connection: UpgradedConnection, didSend count: Int) {
        self.count(sent: count)
        guard let first = writes.first, let left = first.left else { return }
        guard left <= count else {
            writes[0].left = left - count
            return
        }
        writes.removeFirst()
        first.limit?.cancel()
        answer(first.reply, .success(()))
        advance()
    }

    func connectionDidFinishReading(_ connection: UpgradedConnection) { readingEnded() }

    func connection(_ connection: UpgradedConnection, didClose error: EngineError?) {
        if let error {
            delegate?.end(ErrorTranslation.error(error, nil))
        } else {
            state = .closed
            readingEnded()
        }
    }

    private func count(sent: Int = 0, received: Int = 0) {
        delegate?.task.snapshot.withLock { snapshot in
            snapshot.counts.sent += Int64(sent)
            snapshot.counts.received += Int64(received)
        }
    }
}
