import Testing
import UncurlEngine
import UncurlReactor

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct RunPlanTests {
    private let url = "http://127.0.0.1:8080/"

    @Test("connections and requests are shared out whole, remainders to the first threads")
    func shares() throws {
        let three = try plan("-t3", "-c10", "-n", "101", url)
        #expect(three.shares.map(\.connections) == [4, 3, 3])
        #expect(three.shares.map(\.requests) == [34, 34, 33])
        #expect(three.shares.map(\.index) == [0, 1, 2])
    }

    @Test(
        "no thread has more connections than requests, or a connection it may never open",
        arguments: [
            (1, 1, 1), (2, 3, 3), (3, 10, 10), (7, 13, 14), (4, 5, 1_000), (16, 17, 17),
        ]
    )
    func everyConnectionSends(threads: Int, connections: Int, requests: Int) throws {
        let shared = try plan("-t", "\(threads)", "-c", "\(connections)", "-n", "\(requests)", url)
        #expect(shared.shares.map(\.connections).reduce(0, +) == connections)
        #expect(shared.shares.compactMap(\.requests).reduce(0, +) == UInt64(requests))
        for share in shared.shares {
            #expect(share.connections >= 1)
            #expect(share.connectsInFlight >= 1)
            #expect((share.requests ?? 0) >= UInt64(share.connections))
        }
    }

    @Test("paced connects are evenly spread over all threads together")
    func pacing() throws {
        let paced = try plan("-t3", "-c10", "--connect-rate", "1k", url)
        var due: [UInt64] = []
        for share in paced.shares {
            for ordinal in 0..<UInt64(share.connections) { due.append(paced.connectDue(ordinal, share: share)) }
        }
        #expect(due.sorted() == (0..<10).map { UInt64($0) * 1_000_000 })
        #expect(paced.connectDue(.max / 3, share: paced.shares[0]) > paced.connectDue(9, share: paced.shares[0]))
        let free = try plan(url)
        #expect(free.connectDue(99, share: free.shares[0]) == 0)
    }

    @Test("sources take turns over all threads together")
    func sources() throws {
        let many = try plan("-t2", "-c6", "--source-address", "127.0.0.1,127.0.0.2,127.0.0.3", url)
        let used = many.shares.flatMap { share in
            let own = many.sources(for: share)
            return (0..<share.connections).map { own[$0 % own.count].description }
        }
        #expect(used.sorted() == ["1", "1", "2", "2", "3", "3"].map { "127.0.0.\($0):0" })
        let plain = try plan(url)
        #expect(plain.sources(for: plain.shares[0]).isEmpty)
    }

    @Test("the destination is the unix socket, the --connect-to address or the URL's own")
    func destinations() throws {
        let named = try plan("--connect-to", "::localhost:99", "http://example.com/")
        #expect(named.destination == .host("localhost", port: 99))
        #expect(named.options.request.host == "example.com")
        guard case .address(.unix) = try plan("--unix-socket", "@x", url).destination else {
            Issue.record("not a unix socket")
            return
        }
        #expect(try plan().destination == nil)
    }

    @Test("the embedded server is asked for what it can answer")
    func embeddedTargets() throws {
        #expect(try plan().options.request.target == "/bytes/128")
        #expect(try plan("-m", "HEAD").options.request.target == "/bytes/128")
        #expect(try plan("--body", "x").options.request.target == "/anything")
        #expect(try plan("-m", "DELETE").options.request.target == "/anything")
    }
}
