import FacadeTestSupport
import Foundation
import FoundationXML
import Testing
import UncurlXML

@Suite("Hostile XML")
struct HostileXMLTests {
    @Test("XML, as events and as a tree")
    func xml() {
        let text = """
            <?xml version="1.0" encoding="utf-8"?><!DOCTYPE r SYSTEM "r.dtd"><r xmlns:n="urn:x" a="1">\
            <n:b n:k="2">x &amp; y&#33;é</n:b><!--c--><?p q?><![CDATA[<d>]]><e/></r>
            """
        let latin = text.replacing("utf-8", with: "iso-8859-1").data(using: .isoLatin1) ?? Data()
        let sources = [Data(text.utf8), text.data(using: .utf16) ?? Data(), latin]
        Storm.run(5, sources, orThrowing: XMLFailure.self) {
            _ = try XMLParserResponseSerializer().serialize(answer($0)).events()
        }
        Storm.run(6, sources, orThrowing: XMLFailure.self) {
            let tree = try XMLDocumentResponseSerializer().serialize(answer($0))
            _ = try tree.makeDocument().rootElement()?.stringValue
        }
    }
}
