import FacadeTestSupport
import Foundation
import FoundationXML
import TestSupport
import Testing
import UncurlXML

@Suite("XML")
struct XMLTests {
    private static let text = """
        <?xml version="1.0"?>\
        <r xmlns:n="urn:x" a="1"><n:b n:k="2">x &amp; z&#33;</n:b><!--c--><?p q?><![CDATA[<d>]]></r>
        """

    private func tree(_ text: String) throws -> XMLTree {
        try XMLDocumentResponseSerializer().serialize(answer(text))
    }

    @Test(
        "the types of XML, and of what is XML by its suffix",
        .rows("S7"),
        arguments: [
            ("application/xml", true), ("text/xml; charset=utf-8", true), ("application/atom+xml", true),
            ("image/svg+xml", true), ("text/html", false), ("application/json", false),
        ]
    )
    func types(type: String, isAcceptable: Bool) {
        let received = answer("<a/>", type: type)
        #expect((XMLParserResponseSerializer().outcome(of: received).error == nil) == isAcceptable)
        #expect((XMLDocumentResponseSerializer().outcome(of: received).error == nil) == isAcceptable)
    }

    @Test("a parser's answer is not read before its events are asked for", .rows("S7"))
    func unread() throws {
        let outcome = XMLParserResponseSerializer().outcome(of: answer("no xml", type: "text/xml"))
        #expect(outcome.error == nil)
        let content = try #require(outcome.value)
        #expect(try !content.makeParser().parse())
        #expect(throws: XMLFailure.self) { try content.events() }
    }

    @Test("events, text in one piece")
    func events() throws {
        let events = try XMLContent(Data(Self.text.utf8)).events()
        let expected: [XMLEvent] = [
            .start(name: "r", namespace: nil, attributes: ["a": "1"]),
            .start(name: "n:b", namespace: "urn:x", attributes: ["n:k": "2"]), .text("x & z!"), .end(name: "n:b"),
            .comment("c"), .instruction(target: "p", data: "q"), .cdata(Data("<d>".utf8)), .end(name: "r"),
        ]
        #expect(events == expected)
    }

    private struct Stop: Error {}

    @Test("an error that the closure throws ends the reading")
    func stop() throws {
        var count = 0
        #expect(throws: Stop.self) {
            try XMLContent(Data(Self.text.utf8)).forEachEvent { _ in
                count += 1
                if count == 2 { throw Stop() }
            }
        }
        #expect(count == 2)
    }

    @Test("a document gives each caller a tree of its own", .rows("S7"))
    func document() async throws {
        let tree = try XMLDocumentResponseSerializer().serialize(answer(Self.text))
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    let document = try tree.makeDocument()
                    let root = try #require(document.rootElement())
                    root.name = "mine"
                    return root.children?.count ?? 0
                }
            }
            for try await count in group { #expect(count == 4) }
        }
        #expect(try tree.makeDocument().rootElement()?.name == "r")
    }

    @Test(
        "a document that is not well-formed is a failure, where Foundation would recover, call it complete, or trap",
        .rows("S7"),
        arguments: [
            "", " ", "x", "<", "<a>", "<a/", "<a", "<a><b></a>", "<a></a", "<a></a><b/>", "<a></a>x", "<a b=c/>",
            "<a>&nope;</a>",
            "<a><b>text", "<a a='1' a='2'/>", "<a>\u{1}</a>", "<?xml version='1.0'?>", "<!-- -->", "{\"a\":1}", "<n:a/",
        ]
    )
    func malformed(text: String) {
        #expect(throws: XMLFailure.self) { try XMLContent(Data(text.utf8)).events() }
        let outcome = XMLDocumentResponseSerializer().outcome(of: answer(text, type: "text/xml"))
        guard case .xml? = outcome.serializationFailure?.reason else {
            Issue.record("\(outcome)")
            return
        }
        #expect(outcome.serializationFailure?.underlying is XMLFailure)
    }

    @Test("a cut anywhere is a failure, and never a trap")
    func cuts() {
        let octets = Data(Self.text.utf8)
        for end in 0..<octets.count {
            #expect(throws: XMLFailure.self, "\(end)") { try XMLTree(XMLContent(octets.prefix(end))) }
        }
    }

    @Test("documents that declare entities, of this machine's files or of one another, are refused")
    func entities() {
        let laughs = "<!DOCTYPE l [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]><l>&b;</l>"
        let file = "<!DOCTYPE l [<!ENTITY x SYSTEM \"file:///etc/hostname\">]><l>&x;</l>"
        for text in [laughs, file] {
            let failure = #expect(throws: XMLFailure.self) { try XMLContent(Data(text.utf8)).events() }
            #expect(failure == .entities)
            #expect(
                XMLDocumentResponseSerializer().outcome(of: answer(text, type: "text/xml")).serializationFailure != nil
            )
            let wide = text.data(using: .utf16LittleEndian) ?? Data()
            #expect(
                XMLDocumentResponseSerializer().outcome(of: answer(wide, type: "text/xml")).serializationFailure != nil
            )
        }
        #expect(throws: Never.self) { try XMLContent(Data("<!DOCTYPE html><html/>".utf8)).events() }
        #expect(throws: Never.self) { try XMLContent(Data("<a><![CDATA[<!ENTITY]]></a>".utf8)).events() }
    }

    @Test(
        "a processing instruction without content is refused: Foundation's parser would trap; others are read",
        arguments: ["<a><?p?></a>", "<?p?><a/>", "<a/><?pq?>", "<a><?xml?></a>", "<a><??></a>"]
    )
    func emptyInstruction(text: String) throws {
        let failure = #expect(throws: XMLFailure.self) { try XMLContent(Data(text.utf8)).events() }
        #expect(failure == .emptyInstruction)
        #expect(throws: XMLFailure.self) { try XMLContent(Data(text.utf8)).makeParser() }
        let wide = text.data(using: .utf16) ?? Data()
        #expect(throws: XMLFailure.self) { try XMLContent(wide).makeParser() }
        let declared = Data("<?xml version='1.0' encoding='UTF-7'?>+ADw-a+AD4-+ADw-?p?+AD4-+ADw-/a+AD4-".utf8)
        #expect(throws: XMLFailure.encoding) { try XMLContent(declared) }
        let instructions = try XMLContent(Data("<a><?p ?><?q x?></a>".utf8)).events().count
        #expect(instructions == 4)
    }

    @Test("trees end at 256 levels, events do not")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(throws: Never.self) { try tree(nested(250)) }
        for depth in [257, 100_000] {
            let failure = #expect(throws: XMLFailure.self) { try XMLTree(XMLContent(Data(nested(depth).utf8))) }
            #expect(failure == .tooDeep(limit: 256))
        }
        #expect(try XMLContent(Data(nested(10_000).utf8)).events().count == 20_000)
    }

    @Test(
        "a byte order mark counts before the charset, and the charset before the document's declaration",
        arguments: [
            (nil, "<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>", String.Encoding.isoLatin1),
            ("iso-8859-1", "<?xml version='1.0' encoding='utf-8'?><a>é</a>", .isoLatin1),
            ("utf-8", "<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>", .utf8),
            (nil, "<a>é</a>", .utf8), (nil, "<a>é</a>", .utf16LittleEndian), (nil, "<a>é</a>", .utf16BigEndian),
            (nil, "\u{FEFF}<?xml version='1.0' encoding='utf-16'?><a>é</a>", .utf16LittleEndian),
            ("utf-16", "\u{FEFF}<?xml version='1.0' encoding='utf-16'?><a>é</a>", .utf16BigEndian),
            ("iso-8859-1", "\u{FEFF}<?xml version='1.0'?><a>é</a>", .utf8),
            ("us-ascii", "\u{FEFF}<?xml version='1.0' encoding='utf-8'?><a>é</a>", .utf8),
            ("utf-8", "\u{FEFF}<a>é</a>", .utf16LittleEndian),
        ] as [(String?, String, String.Encoding)]
    )
    func charsets(charset: String?, text: String, encoding: String.Encoding) throws {
        let type = "application/xml" + (charset.map { "; charset=\($0)" } ?? "")
        let received = answer(try #require(text.data(using: encoding)), type: type)
        let content = try XMLParserResponseSerializer().serialize(received)
        #expect(try content.events().contains(.text("é")))
        #expect(
            try XMLDocumentResponseSerializer().serialize(received).makeDocument().rootElement()?.stringValue == "é"
        )
    }

    @Test("a downloaded document is read from its file, and each serializer has a short name", .rows("A15"))
    func file() throws {
        let folder = try TemporaryFolder()
        let received = try downloaded(answer("<a/>", type: "text/xml"), in: folder)
        func value<Serializer: ResponseSerializer>(_ serializer: Serializer) -> Serializer.Value? {
            serializer.outcome(of: received).value
        }
        #expect(try value(.xml)?.events().count == 2)
        let document = try value(.xmlDocument)?.makeDocument()
        #expect(document?.rootElement()?.name == "a")
    }
}
