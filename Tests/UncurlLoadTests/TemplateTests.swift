import TestSupport
import Testing

@testable import UncurlLoad

@Suite("Templates")
struct TemplateTests {
    private func render(_ text: String, _ place: Template.Place = .body, number: UInt64 = 5) throws -> String {
        var slots = TemplateSlots()
        let prepared = try slots.protect(text)
        let template = slots.template(prepared)
        var context = TemplateContext(thread: 3, random: RandomStream(seed: 1, stream: 0))
        (context.number, context.user) = (number, 9)
        return String(decoding: template.render(&context, for: place), as: UTF8.self)
    }

    @Test("places are filled in, and the text around them stays")
    func places() throws {
        #expect(try render("a{{counter}}b{{ counter:100 }}{{thread}}-{{user}}}") == "a5b1053-9}")
        #expect(try render("no place, {one} {{") == "no place, {one} {{")
        let number = try #require(UInt64(try render("{{random:7-9}}")))
        #expect((7...9).contains(number))
        #expect(try render("{{hex:16}}").wholeMatch(of: /[0-9a-f]{16}/) != nil)
        #expect(try render("{{text:12}}").wholeMatch(of: /[0-9A-Za-z]{12}/) != nil)
        #expect(
            try render("{{uuid}}").wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/)
                != nil
        )
        #expect(try render("{{uuid}}{{uuid}}").prefix(36) != render("{{uuid}}{{uuid}}").suffix(36))
    }

    @Test("a file's lines come in turn, and each place makes of them what it may hold")
    func lines() throws {
        let file = TemporaryFile(Array("one\ntwo words\n\u{7}ding&=/\n".utf8))
        #expect(try render("{{line:\(file.path)}}", number: 3) == "one")
        #expect(try render("{{line:\(file.path)}}", .target, number: 4) == "two%20words")
        #expect(try render("{{line:\(file.path)}}", .target, number: 2) == "%07ding%26%3D%2F")
        #expect(try render("{{line:\(file.path)}}", .field, number: 2) == " ding&=/")
        #expect(["one", "two words", "\u{7}ding&=/"].contains(try render("{{random-line:\(file.path)}}")))
    }

    @Test("a file's values have its octets: without its mark and line ends, and whether or not they are UTF-8")
    func octets() throws {
        let (mark, end): ([UInt8], [UInt8]) = ([0xEF, 0xBB, 0xBF], [0x0D, 0x0A])
        let last = Array("a".utf8) + [0xFF] + Array("b\u{2028}c\rd".utf8)
        let file = TemporaryFile(mark + Array("first".utf8) + end + end + Array("caf".utf8) + [0xE9, 0x0A] + last)
        let values = try (3...5).map { try render("{{line:\(file.path)}}", .target, number: $0) }
        #expect(values == ["first", "caf%E9", "a%FFb%E2%80%A8c%0Dd"])
        #expect(values.contains(try render("{{random-line:\(file.path)}}", .target)))
    }

    @Test("text that looks like volley's own mark is refused, and nothing ends in the middle of one")
    func marks() {
        #expect(throws: UsageError.self) { try render("{{uuid}}uncurl0slot0") }
        #expect(throws: UsageError.self) { try render("uncurl0slot0x{{uuid}}") }
    }

    @Test(
        "a mark that a peer has cut off is text",
        arguments: ["/uncurl0slot0", "/uncurl0slot", "uncurl0slot0uncurl0slot"]
    )
    func cutMark(text: String) throws {
        var slots = TemplateSlots()
        _ = try slots.protect("{{counter}}")
        #expect(slots.template(text) == [.fixed(Array(text.utf8))])
    }

    @Test("a line with places in it is a line, not a template")
    func noRecursion() throws {
        let file = TemporaryFile(Array("{{line:/etc/passwd}}\n".utf8))
        #expect(try render("{{line:\(file.path)}}") == "{{line:/etc/passwd}}")
    }

    @Test(
        "an unknown place is refused with those that are known",
        arguments: ["{{}}", "{{count}}", "{{random:9-7}}", "{{hex:0}}", "{{hex:x}}", "{{line:/no/such}}", "{{uuid:1}}"]
    )
    func unknown(text: String) {
        #expect(throws: UsageError.self) { try render(text) }
    }
}
