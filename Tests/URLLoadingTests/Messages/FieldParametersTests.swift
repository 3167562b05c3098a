import Testing

@testable import URLLoading

@Suite("FieldParameters")
struct FieldParametersTests {
    @Test("the value and its parameters are read, names without case, blanks where servers put them")
    func plain() {
        let field = FieldParameters(" text/HTML ;  Charset = UTF-8;x=1 ")
        #expect(field.value == "text/HTML")
        #expect(field["charset"] == "UTF-8")
        #expect(field["X"] == "1")
        #expect(field["y"] == nil)
    }

    @Test("quoted strings hold semicolons, and backslashes are undone")
    func quoted() {
        let field = FieldParameters(#"a; b="1;2\"3\\4" junk; c=5"#)
        #expect(field["b"] == #"1;2"3\4"#)
        #expect(field["c"] == "5")
    }

    @Test("a backslash outside quotes takes the semicolon, the quotation mark or the backslash behind it")
    func escaped() {
        let field = FieldParameters(#"attachment; aa=bb\; filename="wrong.ext"; filename="fname.ext"; cc=d\d"#)
        #expect(field["aa"] == #"bb; filename="wrong.ext""#)
        #expect(field["filename"] == "fname.ext")
        #expect(field["cc"] == #"d\d"#)
    }

    @Test(
        "text that is no parameter is skipped",
        arguments: ["a;b", "a;;b=1;", "a; =x; b=1", "a;b=1;b=2", "a;b=\"1", "a;b=\"1\\"]
    )
    func malformed(text: String) {
        let field = FieldParameters(text)
        #expect(field.value == "a")
        if text.contains("=1") || text.contains("\"1") { #expect(field["b"]?.first == "1") }
    }

    @Test("an empty field has no value and no parameters", arguments: ["", " ", ";", ";;"])
    func empty(text: String) {
        #expect(FieldParameters(text).value == "")
        #expect(FieldParameters(text)["a"] == nil)
    }
}
