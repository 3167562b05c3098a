import Foundation
import TestSupport
import Testing
import UncurlExtras
import UncurlTestKit

/// Merged downloads with a session's tasks and serializers.
@Suite("Pages", .timeLimit(.minutes(5)))
struct PageTests {
    private let stubs = Stubs()

    private func request(_ name: String) -> URLRequest { URLRequest(url: URL(string: "http://a.test/\(name)")!) }

    @Test("a page is read by its charset, may be rewritten, and the one before is cancelled", .rows("K7"))
    func pages() async {
        stubs.add(.get("/latin"), .data(Data([0x62, 0xFC, 0x63, 0x68]), contentType: "text/html; charset=iso-8859-1"))
        stubs.add(.get("/plain"), .data(Data("büch".utf8), contentType: "text/html"))
        stubs.add(.get("/hang"), .hang)
        let pages = Downloader(session: stubs.session(), serializer: StringResponseSerializer())
        let slot = LatestSlots<OnlySlot, String>(pages)
        let shown = Sightings<String>()
        func show(_ name: String) {
            slot.show(request(name)) { content in
                if case .value(let text, _) = content { shown.add(text.uppercased()) }
                if case .failed = content { shown.add("failed") }
            }
        }
        show("hang")
        #expect(await Sightings<Void>.eventually { stubs.requests.count == 1 })
        show("latin")
        #expect(await shown.wait { $0 == ["BÜCH"] })
        show("plain")
        #expect(await shown.wait { $0 == ["BÜCH", "BÜCH"] })
        #expect(await Sightings<Void>.eventually { pages.activeCount == 0 })
    }

    @Test("an answer that is not acceptable is a failure, and is not kept", .rows("K2"))
    func validation() async throws {
        stubs.add(.get("/x"), [.text("no", status: 500), .text("yes")])
        let cache = Downloader<String>.Cache(capacity: 100) { $0.utf8.count }
        let pages = Downloader(session: stubs.session(), serializer: StringResponseSerializer(), cache: cache)
        await #expect(throws: UncurlError.self) { try await pages.value(for: request("x")) }
        #expect(cache.count == 0)
        #expect(try await pages.value(for: request("x")).value == "yes")
        let again = try await pages.value(for: request("x"))
        #expect(again.value == "yes" && again.response == nil && stubs.requests.count == 2)
    }

    @Test("a serializer that accepts the types of the request sees the request")
    func request() async throws {
        stubs.add(.get("/page"), .text("page"))
        var wanted = request("page")
        wanted.setValue("image/png", forHTTPHeaderField: "Accept")
        let serializer = StringResponseSerializer(validation: ResponseValidation(contentTypes: .asRequested))
        let pages = Downloader(session: stubs.session(), serializer: serializer)
        await #expect(throws: UncurlError.self) { try await pages.value(for: wanted) }
        wanted.setValue("text/*", forHTTPHeaderField: "Accept")
        #expect(try await pages.value(for: wanted).value == "page")
    }
}
