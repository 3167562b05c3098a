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
        #expect(SystemLimits.listenOverflows(in: text) == 40)
        #expect(SystemLimits.listenOverflows(in: text.replacing("ListenOverflows", with: "X")) == nil)
        #expect(SystemLimits.listenOverflows(in: text.replacing(" 40 41", with: "")) == nil)
        #expect(SystemLimits.listenOverflows(in: "") == nil)
        #expect(SystemLimits.listenOverflows(path: "/nowhere") == nil)
        #expect(SystemLimits.listenOverflows() != nil)
    }

    @Test("connects that a local server dropped since the start are reported")
    func note() {
        let (before, now) = (
            SystemLimits.listenOverflows(in: text), SystemLimits.listenOverflows(in: text.replacing("40", with: "1042"))
        )
        #expect(
            SystemLimits.overflowNote(since: before, now: now, isLocal: true)?.hasPrefix("1,002 connects met a full")
                == true
        )
        #expect(SystemLimits.overflowNote(since: before, now: now, isLocal: false) == nil)
        #expect(SystemLimits.overflowNote(since: before, now: before, isLocal: true) == nil)
        #expect(SystemLimits.overflowNote(since: nil, now: now, isLocal: true) == nil)
    }
}
