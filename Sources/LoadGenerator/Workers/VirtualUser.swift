import HTTP1
import HTTPEngine
import HTTPSemantics
import Reactor

/// A virtual user: one request at a time, on whichever connection the engine has.
final class VirtualUser: ExchangeDelegate {
    private let driver: VirtualUserDriver
    /// Among all of the run, from 0.
    let number: Int
    /// When its request was due by the schedule; without one, when it was started. Never before its first.
    var due = Instant.never
    /// How long after it was due volley took notice, in nanoseconds.
    var lag: UInt64 = 0
    /// Of what is under way: its number among the requests of all threads and parts; 0 where nobody asks for one.
    var sequence: UInt64 = 0
    /// By which name what is under way is counted; nil: by none.
    var name: Int?
    /// Its next request will need a connection of its own making.
    var needsConnection = true
    /// What is under way, or comes after a pause.
    var request: PlannedRequest?
    /// Redirections followed in a row.
    var hops = 0
    /// nil: cookies are not kept.
    var cookies: UserCookies?
    /// Decides what comes next; nil: whatever the run sends next.
    var script: UserScript?
    /// Its way through a scenario; nil: none is under way.
    var visit: ScenarioVisit?
    /// The scenario's step that is under way.
    var step: ScenarioStep?
    /// What its visit has taken from files and answers.
    var variables: [[UInt8]] = []
    /// The last answer was a success.
    var wentWell = false
    /// Its visits in async form.
    var visits: UserVisits?
    /// Only the first request of a visit was due at an instant.
    var isFirstOfVisit = true
    var findings = ResponseFindings()
    /// Of a stream that is under way: its events so far, and when the first and the last of them came.
    var events: EventCounter?
    var firstEvent: Instant?
    var lastEvent: Instant?

    init(_ driver: VirtualUserDriver, number: Int) { (self.driver, self.number) = (driver, number) }

    /// An answer's fields are of use to what decides.
    var readsFields: Bool { script != nil || visits != nil || step?.readsFields == true }
    /// Its content is.
    var readsContent: Bool { script != nil || visits != nil || step?.readsContent == true }

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

/// What a response was seen to be, as far as anybody asked.
struct ResponseFindings {
    /// Where it leads, if it is a redirection.
    var redirect: Redirect?
    /// The first field that was not as expected.
    var problem: String?
    /// Of the content looked for.
    var matched = 0
    /// For a script.
    var response = LoadResponse()
}
