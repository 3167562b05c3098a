import TestSupport
import Testing
import UncurlLoad

@testable import volley

@Suite("Parts of a form")
struct FormPartTests {
    private static let content = Array("content".utf8)

    /// What the text says of a file, which stands for `FILE`.
    private func part(_ text: String) throws -> FormPart {
        let file = TemporaryFile(Self.content)
        return try FormPart(text.replacing("FILE", with: file.path))
    }

    @Test(
        "quotes enclose a file's path and the name that is sent, as in curl, and semicolons may stand in them",
        arguments: [
            (#"f=@FILE;filename="x.txt""#, "x.txt"), (#"f=@FILE;filename="x;y.txt""#, "x;y.txt"),
            (#"f=@"FILE" ; filename="a;type=b"; type=a/b"#, "a;type=b"), (#"f=@FILE;filename="a\\b\c""#, #"a\b\c"#),
            (#"f=@FILE;filename="a\"b""#, "a%22b"), (#"f=@FILE;filename="x"#, "%22x"), (#"f=@FILE;filename="""#, ""),
            (#"f=@FILE;filename=a"b"#, "a%22b"), ("f=@FILE;filename= a b ;type=a/b", "a b"),
        ]
    )
    func quotes(text: String, name: String) throws {
        let part = try part(text)
        #expect(part.fileName == name && part.content == Self.content)
    }

    @Test("a file in quotes is sent by its own name, and a text in quotes has no quotes")
    func unnamed() throws {
        #expect(try part(#"f=@"FILE""#).fileName?.hasPrefix("uncurl-test-") == true)
        let text = try part(#"f="red; \"green\"; type=x";type=text/x-mine"#)
        #expect(text.content == Array(#"red; "green"; type=x"#.utf8) && text.type == "text/x-mine")
        #expect(try part("f=a; b;c ; type=a/b").content == Array("a; b;c ".utf8))
        #expect(try part(#"f=say "a;b""#).content == Array(#"say "a;b""#.utf8))
    }

    @Test(
        "what is neither an option nor a part of a value is refused",
        arguments: [#"f=@FILE;filename="a"b"#, #"f="a" b"#, "f=@FILE;x=y", "f=@FILE;type", "f=@FILE;type=", "f=@FILE;"]
    )
    func refused(text: String) {
        #expect(throws: UsageError.self) { try part(text) }
    }
}
