import Testing
import UncurlHTTP1
import UncurlSemantics

/// The machine as an object: what `#expect` is given must not change.
private final class Driven {
    private var machine: UploadMachine

    init(_ draft: UploadDraft, length: Int64?, resource: URIReference? = nil, isPatient: Bool = false) {
        machine = UploadMachine(draft, length: length, resource: resource, isPatient: isPatient)
    }

    var request: UploadRequest { machine.request }
    var resource: URIReference? { machine.resource }
    var isOver: Bool { machine.isOver }
    var isCreating: Bool { machine.isCreating }

    func inform(_ status: Int, _ fields: HTTPFields, to url: URIReference) -> Bool {
        machine.inform(status, fields, to: url)
    }
    func receive(_ status: Int, _ fields: HTTPFields) -> UploadStep { machine.receive(status, fields) }
    func fail(isTransient: Bool) -> UploadStep { machine.fail(isTransient: isTransient) }
    func create(length: Int64? = 100) { machine.create(length: length) }
    func changeContent() { machine.changeContent() }
}

@Suite("The machine of resumable uploads")
struct UploadMachineTests {
    private static let url = URIReference("https://example.com/files?a=b")
    private static let place = "https://example.com/files/7"

    private func fields(_ list: (String, String)...) throws -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in list { try fields.append(name, value) }
        return fields
    }

    /// An answer to HEAD, and what follows on it.
    struct Said: Sendable {
        let status: Int
        let offset: String?
        let complete: String?
        let step: UploadStep
        let next: String

        init(_ status: Int, _ offset: String?, _ complete: String?, _ step: UploadStep, _ next: String) {
            (self.status, self.offset, self.complete, self.step, self.next) = (status, offset, complete, step, next)
        }
    }

    /// One line for a request: what it is, where it goes, its fields.
    private func text(_ request: UploadRequest) -> String {
        func line(_ fields: [(name: String, value: String)]) -> String {
            fields.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
        }
        switch request {
        case .create(let fields): return "create | \(line(fields))"
        case .askOffset(let url, let fields): return "HEAD \(url.text) | \(line(fields))"
        case .append(let url, let offset, let fields): return "PATCH \(url.text) from \(offset) | \(line(fields))"
        }
    }

    fileprivate func created(
        _ draft: UploadDraft = .six,
        length: Int64? = 100,
        isPatient: Bool = false
    ) throws
        -> Driven
    {
        let machine = Driven(draft, length: length, isPatient: isPatient)
        let isKnown = machine.inform(
            104,
            try fields(("Upload-Draft-Interop-Version", "\(draft.rawValue)"), ("Location", "/files/7")),
            to: Self.url
        )
        #expect(isKnown)
        return machine
    }

    @Test(
        "each version writes its requests in its own fields",
        arguments: [
            (
                UploadDraft.three, "Upload-Incomplete: ?0", "Upload-Incomplete: ?0, Upload-Offset: 40",
                ("Upload-Incomplete", "?1")
            ),
            (.five, "Upload-Complete: ?1", "Upload-Complete: ?1, Upload-Offset: 40", ("Upload-Complete", "?0")),
            (
                .six, "Upload-Complete: ?1, Upload-Length: 100",
                "Upload-Complete: ?1, Upload-Offset: 40, Content-Type: application/partial-upload",
                ("Upload-Complete", "?0")
            ),
        ]
    )
    func requests(draft: UploadDraft, creation: String, rest: String, partial: (String, String)) throws {
        let version = "Upload-Draft-Interop-Version: \(draft.rawValue)"
        let machine = try created(draft)
        #expect(text(machine.request) == "create | \(version), \(creation)")
        #expect(machine.fail(isTransient: true) == .goOn(after: .zero))
        #expect(text(machine.request) == "HEAD \(Self.place) | \(version)")
        #expect(machine.receive(204, try fields(("Upload-Offset", "40"), partial)) == .goOn(after: .zero))
        #expect(text(machine.request) == "PATCH \(Self.place) from 40 | \(version), \(rest)")
        #expect(machine.receive(200, try fields()) == .deliver)
        #expect(machine.isOver && machine.resource == nil)
    }

    @Test("an item ends at its semicolon, whatever follows, and one with a combining mark is another item")
    func items() throws {
        func step(_ complete: String) throws -> UploadStep {
            let machine = try created()
            _ = machine.fail(isTransient: true)
            return machine.receive(204, try fields(("Upload-Offset", "100"), ("Upload-Complete", complete)))
        }
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        let whole = try step("?1")
        #expect(try step("?0") != whole)
        #expect(try step("?1 ;\u{301}a=\(run)") == whole)
        let unsaid = try step("?2")
        #expect(unsaid != whole)
        #expect(try step("?1\u{301}") == unsaid && step(run) == unsaid)
    }

    @Test("an upload of unknown length says none, and takes any offset")
    func unknownLength() throws {
        let machine = try created(.six, length: nil)
        #expect(!text(machine.request).contains("Upload-Length"))
        _ = machine.fail(isTransient: true)
        #expect(machine.receive(204, try fields(("Upload-Offset", "999999999999999"))) == .goOn(after: .zero))
    }

    @Test(
        "a 104 of another version, without a place, or with one that TLS does not reach, makes nothing resumable",
        arguments: [
            (104, "5", "/files/7"), (104, "6", ""), (104, "6", "http://example.com/files/7"),
            (104, "6", "ftp://example.com/x"), (103, "6", "/files/7"), (104, "six", "/files/7"),
        ]
    )
    func refused(status: Int, version: String, place: String) throws {
        let machine = Driven(.six, length: 100)
        let said = try fields(("Upload-Draft-Interop-Version", version), ("Location", place))
        #expect(!machine.inform(status, said, to: Self.url))
        #expect(machine.resource == nil)
        #expect(machine.fail(isTransient: true) == .fail)
    }

    @Test("the first 104 counts, and a redirected request is another upload")
    func createdAnew() throws {
        let machine = try created()
        let other = try fields(("Upload-Draft-Interop-Version", "6"), ("Location", "/files/8"))
        #expect(!machine.inform(104, other, to: Self.url))
        #expect(machine.resource?.text == Self.place)
        machine.create()
        #expect(machine.resource == nil)
        #expect(machine.inform(104, other, to: Self.url))
        #expect(machine.resource?.text == "https://example.com/files/8")
    }

    @Test("what the server says to the first request is the answer, unless it says that more is to come")
    func answers() throws {
        var machine = try created()
        #expect(machine.receive(500, try fields()) == .deliver)
        machine = try created()
        #expect(machine.receive(400, try fields(("Upload-Complete", "?0"))) == .deliver)
        machine = try created()
        let more = try fields(("Upload-Complete", "?0"), ("Upload-Offset", "12"))
        #expect(machine.receive(201, more) == .goOn(after: .zero))
        #expect(text(machine.request).hasPrefix("PATCH \(Self.place) from 12"))
    }

    @Test(
        "the answer to HEAD decides how the upload is resumed",
        arguments: [
            Said(204, "0", "?0", .goOn(after: .zero), "PATCH \(place) from 0"),
            Said(200, "100", "?0", .goOn(after: .zero), "PATCH \(place) from 100"),
            Said(204, "40;a=1", "?0;b", .goOn(after: .zero), "PATCH \(place) from 40"),
            Said(204, "100", "?1", .deliver, "create"),
            // An offset that cannot be, or none.
            Said(204, "101", "?0", .goOn(after: .milliseconds(250)), "create"),
            Said(204, "-1", "?0", .goOn(after: .milliseconds(250)), "create"),
            Said(204, "1e2", "?0", .goOn(after: .milliseconds(250)), "create"),
            Said(204, "1234567890123456", "?0", .goOn(after: .milliseconds(250)), "create"),
            Said(204, nil, "?0", .goOn(after: .milliseconds(250)), "create"),
            // The server has forgotten it, or never knew.
            Said(404, nil, nil, .goOn(after: .milliseconds(250)), "create"),
            Said(410, nil, nil, .goOn(after: .milliseconds(250)), "create"),
            Said(405, nil, nil, .goOn(after: .milliseconds(250)), "create"),
            // It cannot say now.
            Said(503, nil, nil, .goOn(after: .milliseconds(250)), "HEAD \(place)"),
            Said(429, nil, nil, .goOn(after: .milliseconds(250)), "HEAD \(place)"),
            // It may not be asked.
            Said(401, nil, nil, .deliver, "create"), Said(403, nil, nil, .deliver, "create"),
        ]
    )
    func offsets(said answer: Said) throws {
        let machine = try created()
        _ = machine.fail(isTransient: true)
        var said = HTTPFields()
        if let offset = answer.offset { try said.append("Upload-Offset", offset) }
        if let complete = answer.complete { try said.append("Upload-Complete", complete) }
        #expect(machine.receive(answer.status, said) == answer.step)
        #expect(text(machine.request).hasPrefix(answer.next))
    }

    @Test(
        "what is answered to PATCH is the answer, but for a conflict and an upload that has gone",
        arguments: [
            (200, UploadStep.deliver, "create"), (201, .deliver, "create"), (500, .deliver, "create"),
            (400, .deliver, "create"), (409, .goOn(after: .zero), "HEAD \(place)"),
            (404, .goOn(after: .zero), "create"), (410, .goOn(after: .zero), "create"),
        ]
    )
    func appended(status: Int, step: UploadStep, next: String) throws {
        let machine = try created()
        _ = machine.fail(isTransient: true)
        _ = machine.receive(204, try fields(("Upload-Offset", "40")))
        #expect(machine.receive(status, try fields()) == step)
        #expect(text(machine.request).hasPrefix(next))
    }

    @Test("after four ways back without another octet it gives up; each octet starts the count again")
    func limit() throws {
        var machine = try created()
        var steps: [UploadStep] = []
        for _ in 0..<6 {
            let step = machine.fail(isTransient: true)
            steps.append(step)
            guard step != .fail else { break }
            _ = machine.receive(204, try fields(("Upload-Offset", "40")))
        }
        // The first way back brought 40 octets, which started the count.
        #expect(
            steps == [
                .goOn(after: .zero), .goOn(after: .zero), .goOn(after: .milliseconds(250)),
                .goOn(after: .milliseconds(500)), .goOn(after: .seconds(1)), .fail,
            ]
        )
        #expect(machine.resource != nil)
        machine = try created(length: 1000)
        for offset in 1...200 {
            #expect(machine.fail(isTransient: true) == .goOn(after: .zero))
            _ = machine.receive(204, try fields(("Upload-Offset", "\(offset)")))
        }
    }

    @Test("a server that takes no octet of a PATCH is asked a few times, with pauses, and its answer is then delivered")
    func stuck() throws {
        let machine = try created()
        _ = machine.fail(isTransient: true)
        _ = machine.receive(204, try fields(("Upload-Offset", "40"), ("Upload-Complete", "?0")))
        var steps: [UploadStep] = []
        for _ in 0..<10 {
            let step = machine.receive(200, try fields(("Upload-Offset", "40"), ("Upload-Complete", "?0")))
            steps.append(step)
            guard step != .deliver else { break }
            #expect(text(machine.request).hasPrefix("HEAD "))
            _ = machine.receive(204, try fields(("Upload-Offset", "40"), ("Upload-Complete", "?0")))
        }
        #expect(
            steps == [
                .goOn(after: .zero), .goOn(after: .milliseconds(250)), .goOn(after: .milliseconds(500)),
                .goOn(after: .seconds(1)), .deliver,
            ]
        )
    }

    @Test("a server that cannot be reached ends the attempt, and a later one resumes; a patient machine asks again")
    func outOfReach() throws {
        var machine = try created()
        _ = machine.fail(isTransient: true)
        #expect(machine.fail(isTransient: true) == .fail)
        let resource = try #require(machine.resource)
        machine = Driven(.six, length: 100, resource: resource)
        #expect(text(machine.request).hasPrefix("HEAD \(Self.place)"))
        machine = try created(isPatient: true)
        for _ in 0..<40 { #expect(machine.fail(isTransient: true) != .fail) }
        #expect(machine.fail(isTransient: true) == .goOn(after: .seconds(10)))
        // What the server says over and over is not the network's failure.
        for _ in 0..<2 { #expect(machine.receive(404, try fields()) != .goOn(after: .zero)) }
    }

    @Test(
        "a 503 or 404 after an outage does not end a patient machine's upload; four answers that lead nowhere do",
        arguments: [(503, "HEAD"), (404, "create")]
    )
    func outage(status: Int, next: String) throws {
        var machine = try created(isPatient: true)
        for _ in 0..<5 { _ = machine.fail(isTransient: true) }
        #expect(machine.receive(status, try fields()) == .goOn(after: .seconds(4)))
        #expect(text(machine.request).hasPrefix(next))
        machine = try created(isPatient: true)
        for _ in 0..<4 {
            _ = machine.fail(isTransient: true)
            #expect(machine.receive(503, try fields()) != .fail)
        }
        #expect(machine.fail(isTransient: true) != .fail)
        #expect(machine.receive(503, try fields()) == .fail)
    }

    @Test("an upload begins anew four times if the server forgets it again and again", arguments: [true, false])
    func forgetting(isPatient: Bool) throws {
        let machine = Driven(.six, length: 100, isPatient: isPatient)
        var renewals = -1
        while machine.isCreating, renewals < 10 {
            renewals += 1
            _ = machine.inform(
                104,
                try fields(("Upload-Draft-Interop-Version", "6"), ("Location", "/files/7")),
                to: Self.url
            )
            #expect(machine.fail(isTransient: true) != .fail)
            let stored = try fields(("Upload-Offset", "50"), ("Upload-Complete", "?0"))
            #expect(machine.receive(204, stored) == .goOn(after: .zero))
            _ = machine.receive(404, try fields())
        }
        #expect(renewals == UploadMachine.tryLimit && machine.isOver)
    }

    @Test("content that has grown before it is sent again has its new length")
    func grown() throws {
        let machine = Driven(.six, length: 100)
        machine.create(length: 150)
        #expect(text(machine.request).hasSuffix("Upload-Length: 150"))
        machine.create(length: nil)
        #expect(!text(machine.request).contains("Upload-Length"))
    }

    @Test("an upload is not resumed after another failure, or if its content has changed")
    func changed() throws {
        let machine = try created()
        #expect(machine.fail(isTransient: false) == .fail)
        machine.changeContent()
        #expect(machine.resource == nil && machine.isCreating)
        #expect(machine.receive(200, try fields()) == .deliver)
        machine.changeContent()
        #expect(machine.isOver)
    }
}
