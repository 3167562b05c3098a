internal import Dispatch
internal import Foundation
internal import Synchronization
internal import UncurlClient
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// A session's part on its loop: the client, and the tasks' loads. Loop-confined.
final class SessionEngine {
    let client: Client
    let settings: SessionSettings
    let batch: BatchedResumption
    /// The session's background part; nil for other sessions.
    let background: BackgroundSession?
    /// The loads, in no order; each knows its index.
    private var loads: [any TaskLoad] = []

    init(
        on loop: EventLoop,
        _ settings: SessionSettings,
        _ security: ClientSecurity,
        _ background: BackgroundSession?
    ) {
        client = Client(
            on: loop,
            settings.client,
            security,
            resolver: .shared,
            blocking: .shared
        )
        batch = BatchedResumption(on: loop)
        self.settings = settings
        self.background = background
    }

    var loop: EventLoop { client.loop }
    var engine: Engine { client.engine }

    /// Makes this the context for https.
    func begin(with context: TLSContext, of session: URLSession) {
        ask(session)
        client.begin(with: context)
    }

    /// Returns the context for streams: the session's rules about certificates, without ALPN for HTTP.
    func streamContext(of session: URLSession) throws(TLSError) -> TLSContext {
        ask(session)
        return try client.streamContext()
    }

    /// Returns the security of the object that answers for a task alone; nil if the session's applies.
    ///
    /// - Parameter listener: the task's own.
    func ownSecurity(_ listener: TaskListener?, in session: URLSession) -> ClientSecurity? {
        session.owner(listener).map { client.security(of: $0) }
    }

    /// Lets connections ask the session's delegates about servers and proxies. It is called before the first context is
    /// used, and not earlier: it makes a weak reference to the session, after which every reference to the session is
    /// counted five times as slowly.
    func ask(_ session: URLSession) {
        client.security.ask(ConnectionQuestion.questions(to: session, settings.credentialSubclass))
    }

    func add(_ load: any TaskLoad) {
        load.move(to: loads.count)
        loads.append(load)
        load.task.stage = .loading(load)
    }

    func remove(_ load: any TaskLoad) {
        load.task.stage = .over
        // The last load takes its place.
        let last = loads.removeLast()
        guard last !== load else { return }
        last.move(to: load.index)
        loads[load.index] = last
    }

    var hasSeveralLoads: Bool { loads.count > 1 }

    /// Closes the connections; loads end as cancelled.
    func shutDown() {
        for load in loads { load.cancel(.atOnce) }
        client.shutDown()
    }

    /// Forgets what was learnt from servers, so that it is not used again: connections, challenges, tickets.
    func forget() { client.forget(hasLoads: !loads.isEmpty) }

    /// Forgets what is known by a credential of this space, which its storage has replaced or removed.
    func forget(_ space: ProtectionSpaceValues) {
        client.forgetCredentials(for: space.host, space.port, isProxy: space.isProxy)
    }

    /// Stores a name and a password that a server has accepted from the task. Those that the storage had are not stored
    /// again: the program may have replaced them meanwhile.
    func store(_ credential: URLCredential, for space: ProtectionSpace, _ task: URLSessionTask, isStored: Bool) {
        guard credential.persistence != .none else { return }
        let place = URLProtectionSpace(ProtectionSpaceValues(space))
        settings.credentialSubclass?.set(credential, for: place, task)
        guard !isStored, let storage = settings.credentials else { return }
        SessionEngine.keeping.async { storage.add(credential, for: place) }
    }

    /// Runs `call` when the credentials that are on their way to their storage have arrived there.
    func whenKept(_ call: @escaping @Sendable () -> Void) {
        guard let storage = settings.credentialSubclass else { return SessionEngine.keeping.async(execute: call) }
        storage.whenKept(call)
    }

    /// The queue for work that waits for the disk, or for the storage's observers, which a loop must not do.
    private static let keeping = DispatchQueue(label: "URLLoading.URLCredentialStorage", qos: .utility)
}

/// The task that a stream, a WebSocket or another source of an answer reports to. Loop-confined.
protocol LoadDelegate: AnyObject {
    /// The task as the program sees it: a data task may become another one.
    var task: URLSessionTask { get }
    var session: URLSession { get }
    /// The queue on which handlers are called, after earlier calls.
    var callbacks: CallbackQueue { get }

    /// Reports the head of the answer.
    func received(_ response: URLResponse)
    /// Reports decoded content; the span is the loop's buffer.
    func receive(_ bytes: Span<UInt8>)
    /// Reports that the whole answer is there.
    func finished()
    /// Ends the task.
    func end(_ error: (any Error)?)
    /// Ends the task: the program has taken the connection over.
    func end(handingOver streams: CapturedStreams)

    /// Asks to pause the answer until ``catchUp()``: as much as may be read ahead waits.
    func fallBehind()
    func catchUp()

    /// Tells an event on the delegate queue after earlier calls, if the delegate gets it.
    func tell(_ event: TaskEvent)
    /// Runs `call` on the delegate queue, whether or not there is a delegate.
    func later(_ call: @escaping @Sendable () -> Void)

    // MARK: From a `URLProtocol` class of the program's

    /// Reports that no class takes the request.
    func loadItself(_ source: any AnswerSource)
    /// Reports the head of the answer, and whether the class allows storing it.
    func received(_ response: URLResponse, _ policy: URLCache.StoragePolicy)
    func classRedirected(to next: URLRequest, _ response: URLResponse, _ source: any AnswerSource)
    /// - Parameter pass: passes the answer on to the class.
    func classChallenged(
        _ challenge: URLAuthenticationChallenge,
        _ source: any AnswerSource,
        _ pass: @escaping (ChallengeSender.Reply) -> Void
    )
    func classFinished(_ source: any AnswerSource)
}

extension LoadDelegate {
    /// Answers a caller: a handler on the delegate queue.
    func pass(_ answer: TaskAnswer) {
        if answer.isAwaited { answer.call() } else { later(answer.call) }
    }

    /// Counts content that no progress shows, in bytes.
    func count(sent: Int = 0, received: Int = 0) {
        task.snapshot.withLock { snapshot in
            snapshot.counts.sent += Int64(sent)
            snapshot.counts.received += Int64(received)
        }
    }
}
