import Testing

@testable import UncurlWebSocket

@Suite struct ExtensionListTests {
    private func parsed(_ text: String) -> [ExtensionList.Element]? { ExtensionList(text)?.elements }

    @Test("names, parameters and values are told apart, with blanks anywhere a list has them")
    func parts() {
        #expect(parsed("") == [])
        #expect(parsed(" , ,") == [])
        #expect(parsed("foo") == [.init(name: "foo", parameters: [])])
        #expect(
            parsed("a; x ;y=1 , b;z=\"2\"") == [
                .init(name: "a", parameters: [("x", nil), ("y", "1")]), .init(name: "b", parameters: [("z", "2")]),
            ]
        )
        #expect(parsed("a;b=\"\\1\\5\"") == [.init(name: "a", parameters: [("b", "15")])])
    }

    @Test(
        "what is no list is refused",
        arguments: [
            ";", "a;", "a;=1", "a;b=", "a b", "a;b=\"", "a;b=\"\"", "a;b=\"x y\"", "a;b=\"\\", "=", "a;b c", "é",
        ]
    )
    func refused(text: String) {
        #expect(ExtensionList(text) == nil)
    }
}
