package import UncurlEngine
package import UncurlSemantics

/// What happens to a load, as its owner hears it. Rare, large cases are indirect.
package enum LoadEvent {
    /// The request's content begins to be sent: how much has been sent before, and the length of all (−1 if unknown).
    case begins(sent: Int64, of: Int64)
    /// Content was sent: the bytes since the last call, and the bytes so far.
    case sent(Int, total: Int64)
    /// The load sends another request than the owner's: one that a resumable upload needs, or one with another spelling
    /// of the URL.
    indirect case changes(Request)
    /// The server has named the resource at which the upload can be resumed.
    case keptUpload
    /// An informational response other than 100 and 101.
    indirect case informed(LocatedHead)
    /// There is no way to the server now, and the load waits for one.
    case waits(isFirst: Bool)
    /// The load sends another request: the answer to a challenge, the rest of an upload, or a retry after a failure.
    case sendsAgain
    /// What an earlier load has left of the answer is of no use.
    case partIsUseless
    /// A server has accepted the credentials.
    indirect case accepted(OfferedCredentials, ProtectionSpace)
}

/// What a load belongs to: hears its events, answers its questions, and takes its answer. A task of a session, a call
/// that waits, or a test. Loop-confined.
package protocol LoadOwner: AnyObject {
    func hear(_ event: LoadEvent)
    /// Hears that an exchange has ended. It is apart from the other events, since a report is large.
    func exchanged(_ report: ExchangeReport)

    // MARK: The request

    /// Makes the content of the next request, from an offset on for an upload that resumes, or asks for a stream; then
    /// ``Load/take(_:length:isStream:)``, unless the owner ends the load or starts it again.
    func getContent(from offset: Int64?)
    /// Notes that the next request has no content.
    func dropContent()
    /// The next piece of content that is asked for while it is sent.
    func part(at offset: UInt64) -> BodyPart
    /// The octets of content that is in memory; nil for other content.
    var contentOctets: [UInt8]? { get }
    /// Asks for a stream that begins at the offset; then ``Load/take(_:length:isStream:)``.
    func askForStream(from offset: Int64?)
    /// Lets another source than the network load the request, before the store of answers is asked.
    ///
    /// - Returns: false if there is none.
    func takeOver() -> Bool
    /// Loads a URL that is neither http nor https, or fails.
    func loadLocally()
    /// Fields that the owner's observers add.
    var addedFields: [(name: String, value: [UInt8])] { get }
    /// The priority of a request to that origin, which is sent now.
    func priority(to origin: Origin) -> UInt8
    /// Whether a file of the content is still wanted; asked on any thread.
    var isWanted: @Sendable () -> Bool { get }
    /// The object whose answers about servers and certificates hold for this load alone; nil if the client's do.
    var answerer: ClientSecurity.Owner? { get }
    /// Notes that connections may ask about servers and proxies from here on.
    func expectQuestions()
    /// The digest of the identity that is stored for a server; nil for none.
    func storedIdentity(for origin: Origin) -> [UInt8]?

    // MARK: Stores that may answer later

    /// Gets the cookies of the request from a store that answers later, and then runs `next`.
    func getCookies(_ next: @escaping ([UInt8]?) -> Void)
    /// Has that store keep an answer's cookies, and then runs `next`.
    func giveCookies(
        of response: LocatedHead,
        from scope: CookieScope,
        to request: Request,
        _ next: @escaping () -> Void
    )
    /// Has that store keep the cookies of an answer for which nothing waits; nil without such a store.
    var cookieKeeper: ((LocatedHead, CookieScope, Request) -> Void)? { get }
    /// Looks for a stored answer, and then runs `next`.
    func find(_ next: @escaping (StoredAnswer?) -> Void)
    /// Runs a comparison, which reads from disk, and then `next`.
    func read(_ comparison: @escaping @Sendable () -> Void, _ next: @escaping () -> Void)

    // MARK: Questions

    /// Asks whether to follow a redirect; then ``Load/follow(_:bringsContent:_:_:)`` or ``Load/decline(_:_:)``.
    func ask(_ redirect: Redirect, _ response: LocatedHead)
    /// Asks for credentials; then ``Load/reply(_:with:to:_:_:)``.
    func ask(_ question: ChallengeQuestion, failures: Int, _ response: LocatedHead?)

    // MARK: The answer

    /// Whether the answer may be stored, apart from what the rules permit.
    var isStorable: Bool { get }
    /// Whether something decides what is stored.
    var decidesOnStoring: Bool { get }
    /// Whether a request that the network has failed may be sent again.
    var mayRepeat: Bool { get }
    /// Notes how the answer that follows is stored; nil: not at all.
    func store(_ storage: CacheStorage?, received: Int64)
    /// Takes the response as the answer.
    func accept(_ response: LocatedHead)
    /// Lets the rest of what an earlier load has left follow; its whole length is `total`.
    ///
    /// - Returns: whether the part is there; nil if the owner has ended the load, or places the answer again later.
    func continuePart(of total: Int64, _ again: @escaping () -> Void) -> Bool?
    /// Notes that the whole answer comes in place of the rest of an earlier one.
    func replacePart(_ response: LocatedHead)
    /// Takes decoded content; the span is the loop's buffer.
    func receive(_ bytes: Span<UInt8>)
    /// Handles the end of an answer while no question is open.
    func complete()
    /// Makes a stored answer the answer.
    func serve(_ answer: StoredAnswer, age: Int64)
    /// Makes a 504 the answer.
    func serveGatewayTimeout()
    /// Takes the connection of a 101.
    func switchProtocols(to connection: UpgradedConnection, _ response: LocatedHead)
    /// Notes that the load begins anew after that time; the owner begins it.
    func beginAnew(after pause: Duration)
    /// Ends the load: nothing takes what its source would deliver.
    func endUntaken()
    func end(_ error: LoadError)
}

/// Credentials that were given for a challenge: whether they are for this load alone, whether the owner's store has
/// them already, and what the owner knows them as.
package typealias OfferedCredentials = (isAlone: Bool, isStored: Bool, kept: any AnyObject & Sendable)
