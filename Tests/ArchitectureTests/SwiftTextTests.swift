import TestSupport
import Testing

@Suite("Reading Swift", .ownThread)
struct SwiftTextTests {
    @Test("comments and strings are not code")
    func stripping() {
        let source =
            ##"let a = "await // no" // async"## + "\nlet b = 1 /* try! */ + 2\nlet c = #\"as! \"quoted\" \"# + d"
        #expect(SwiftText.withoutCommentsAndStrings(source) == "let a =  \nlet b = 1  + 2\nlet c =  + d")
    }

    @Test("a quote escaped, and a string of several lines, end where they end")
    func strings() {
        let source = "f(\"\\\"\", x)\ng(\"\"\"\n  async \"q\"\n  \"\"\", y)"
        #expect(SwiftText.withoutCommentsAndStrings(source) == "f(, x)\ng(\n\n, y)")
    }

    @Test("every spelling of an import names its module")
    func imports() {
        let code =
            "import A\ninternal import B\n@testable import C\nimport struct D.E\npublic import F\nlet import1 = 2\n"
        #expect(SwiftText.imports(code) == ["A", "B", "C", "D", "F"])
    }
}
