import Testing

@testable import UncurlWebSocket

@Suite struct ExtensionListTests {
    /// Each element's name, and its parameters as they are told apart.
    private func parsed(_ text: String) -> [[String]]? {
        DeflateAgreement.elements(text)?.map { name, parameters in
            [name] + parameters.map { name, value in value.map { "\(name): \($0)" } ?? name }
        }
    }

    @Test("names, parameters and values are told apart, with blanks anywhere a list has them")
    func parts() {
        #expect(parsed("") == [])
        #expect(parsed(" , ,") == [])
        #expect(parsed("foo") == [["foo"]])
        #expect(parsed("a; x ;y=1 , b;z=\"2\"") == [["a", "x", "y: 1"], ["b", "z: 2"]])
        #expect(parsed("a;b=\"\\1\\5\"") == [["a", "b: 15"]])
    }

    @Test(
        "what is no list is refused",
        arguments: [
            ";", "a;", "a;=1", "a;b=", "a b", "a;b=\"", "a;b=\"\"", "a;b=\"x y\"", "a;b=\"\\", "=", "a;b c", "é",
        ]
    )
    func refused(text: String) {
        #expect(DeflateAgreement.elements(text) == nil)
    }
}
