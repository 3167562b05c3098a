import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct ListenQueuesTests {
    private let text = """
        TcpExt: SyncookiesSent ListenOverflows ListenDrops
        TcpExt: 5 40 41
        IpExt: InNoRoutes ListenOverflows
        IpExt: 1 7

        """

    @Test("the count is that of TcpExt, wherever it stands, and none where it does not")
    func reading() {
        #expect(ListenQueues(text)?.overflows == 40)
        #expect(ListenQueues(text.replacing("ListenOverflows", with: "X")) == nil)
        #expect(ListenQueues(text.replacing(" 40 41", with: "")) == nil)
        #expect(ListenQueues("") == nil)
        #expect(ListenQueues(path: "/nowhere") == nil)
        #expect(ListenQueues() != nil)
    }

    @Test("connects that a local server dropped since the start are reported")
    func note() {
        let (before, now) = (ListenQueues(text), ListenQueues(text.replacing("40", with: "1042")))
        #expect(
            ListenQueues.note(since: before, now: now, isLocal: true)?.hasPrefix("1,002 connects met a full") == true
        )
        #expect(ListenQueues.note(since: before, now: now, isLocal: false) == nil)
        #expect(ListenQueues.note(since: before, now: before, isLocal: true) == nil)
        #expect(ListenQueues.note(since: nil, now: now, isLocal: true) == nil)
    }
}
