import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlWebSocket

/// A virtual user: it sends one request at a time, in a closed loop on connections of its own.
final class VirtualUser: ExchangeDelegate {
    let driver: VirtualUserDriver
    let number: Int
    /// The user's connections. Nil if it uses any that the engine has.
    let keeper: ConnectionKeeper?
    /// When its request was due by the schedule or, without one, was started. `.never` before the first request.
    var due = Instant.never
    /// How long after that instant volley noticed it, in nanoseconds.
    var lag: UInt64 = 0
    /// The present request's number among those of all threads and parts. 0 where it is not needed.
    var sequence: UInt64 = 0
    /// The number of the name that the present request is counted by. Nil for none.
    var name: Int?
    var needsConnection = true
    /// The present request, or the one after a pause.
    var request: PlannedRequest?
    var hops = 0
    var cookies: UserCookies?
    /// The user's way through a scenario. Nil if there is none.
    var visit: ScenarioVisit?
    var step: ScenarioStep?
    /// The values that its visit has from files and answers.
    var variables: [[UInt8]] = []
    var wentWell = false
    /// The user's visits. Nil if the run decides what comes next.
    var visits: UserVisits?
    /// Whether the request is the first of its visit: only that one was due at an instant.
    var isFirstOfVisit = true
    /// Whether the present request is the one that came due, not one that followed it.
    var hasDueRequest: Bool { isFirstOfVisit && hops == 0 }
    var findings = ResponseFindings()
    /// The present stream's events so far, and when the first and the last of them came.
    var events: EventCounter?
    var firstEvent: Instant?
    var lastEvent: Instant?

    /// Its WebSocket, open or not. Nil if it sends HTTP requests.
    var link: WebSocketLink?
    /// Whether a message was sent on the WebSocket and has no answer yet.
    var isTalking = false
    /// When the message was sent, and the message itself, if its echo is expected.
    var said = Instant.never
    var saying: WebSocketMessage?
    var messages = 0

    init(_ driver: VirtualUserDriver, number: Int) {
        (self.driver, self.number) = (driver, number)
        keeper = driver.plan.usersKeepConnections ? ConnectionKeeper() : nil
    }

    /// Whether the fields of an answer are needed to decide what comes next.
    var readsFields: Bool { visits != nil || step?.readsFields == true }
    var readsContent: Bool { visits != nil || step?.readsContent == true }

    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {
        if driver.inspects, head.status >= 200 { driver.inspect(head, of: self) }
    }

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {
        if driver.inspects { driver.inspect(bytes, of: self) }
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        driver.finished(self, outcome, report)
    }
}

struct ResponseFindings {
    var redirect: Redirect?
    /// The first field that was not as expected.
    var problem: String?
    /// What was found in the place of what is wanted.
    var words: String?
    var isEncoded = false
    /// The number of bytes found so far of the content that is looked for.
    var matched = 0
    var response = LoadResponse()
}
