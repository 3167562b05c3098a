internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics
internal import TLS

/// One attempt of a task to get its answer, through all its redirects and challenges. To begin anew is to make another
/// one: nothing of the last is left but what ``init(anewAfter:_:resuming:)`` takes over. It is never copied: a copy
/// would cost each request two dozen references more.
struct Attempt: ~Copyable {
    /// The request under way.
    var request: URLRequest
    var content = UploadContent.none
    /// The content can be read once, and has been: a request that needs it again asks for another.
    var hasReadContent = false
    /// What becomes of its answers.
    var machine: AnswerMachine
    /// What is on the network now, or was last.
    var transaction: Transaction?
    /// What of the content has been sent.
    var sent: Int64 = 0
    /// What the machine's stored response is.
    var stored: CachedURLResponse?
    /// The answer, on its way into the cache.
    var storing: CacheEntry?
    /// The answer as it is told; nil before.
    var response: URLResponse?
    /// The user's name and password that the server may accept, and what they are for.
    var offered: (credential: URLCredential, space: ProtectionSpace)?
    /// What a download goes on from.
    var resumption: ResumeData?
    /// The file that a download goes on with, from its answer's head on.
    var resumed: DownloadFile?
    /// A WebSocket's handshake under way.
    var opening: WebSocketOpening?
    /// The 101 to a request that offered to go on with another protocol.
    var switching: ResponseHead?

    init(_ request: URLRequest, _ rules: AnswerMachine.Rules, resuming resumption: ResumeData?) {
        self.request = request
        self.resumption = resumption
        machine = AnswerMachine(rules, resuming: resumption?.offer)
    }

    /// After one that the network has failed.
    init(anewAfter last: borrowing Attempt, _ request: URLRequest, resuming resumption: ResumeData?) {
        self.request = request
        self.resumption = resumption
        content = last.content
        hasReadContent = last.hasReadContent
        machine = last.machine.anew(resuming: resumption?.offer)
    }

    /// Goes on with another request.
    ///
    /// - Parameter isKept: what comes is kept for another process, which may go on from it.
    mutating func replaceRequest(by request: URLRequest, isKept: Bool) {
        self.request = request
        guard isKept, !request.decidesOnCoding else { return }
        // Content that is coded on its way cannot be gone on from: lengths are then those of the coded form.
        self.request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    }

    /// The request that a redirect leads to; nil for a target of which Foundation makes no URL.
    func request(following redirect: Redirect) -> URLRequest? {
        guard let target = redirect.url.url else { return nil }
        var next = URLRequest(storage: RequestStorage(request.values))
        next.url = target
        next.httpMethod = redirect.method
        next.values.changeFields { redirect.fields(from: $0) }
        if redirect.dropsContent { next.httpBody = nil }
        return next
    }

    var url: WebURL { WebURL(transaction?.url ?? request.url ?? URLRequest.nowhere) }

    // MARK: The request's content

    /// How the request's content is had.
    enum Loading {
        case ready
        case asksForStream
        case usedUp
    }

    /// Makes the content for the next request.
    mutating func loadContent(_ source: ContentSource) throws(URLError) -> Loading {
        guard machine.sendsContent else {
            content = .none
            return .ready
        }
        // A proxy has asked first, or a server that was asked whether it wants the content.
        if case .stream(let stream) = content, stream.isUnread(for: request) { return .ready }
        content = try UploadContent(source, request)
        switch (source, content) {
        case (.stream, .none): return .asksForStream
        case (_, .stream) where hasReadContent: return .asksForStream
        case (_, .segments(let body)) where hasReadContent && !body.isReplayable: return .usedUp
        case (_, .stream), (_, .segments): hasReadContent = true
        case (_, .none), (_, .data), (_, .file): break
        }
        return .ready
    }

    mutating func take(stream: InputStream) {
        content = .stream(StreamContent(stream, request))
        hasReadContent = true
    }

    /// Nothing of the content has been sent. Returns its length in bytes; -1 where it is not known.
    mutating func beginSending() -> Int64 {
        sent = 0
        return content.length
    }

    /// More of the content has left. Returns how much in all: of a request that the engine has sent twice, what had
    /// left the first time counts once.
    mutating func noteSent(_ count: Int) -> Int64 {
        let length = content.length
        sent = length >= 0 ? min(sent + Int64(count), length) : sent + Int64(count)
        return sent
    }
}

extension URLRequest {
    /// Where a task goes that has no request.
    static let nowhere = URL(fileURLWithPath: "/")
    static let toNowhere = URLRequest(url: nowhere)
}
