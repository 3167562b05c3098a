import TestSupport
import Testing

@testable import UncurlLoad
@testable import volley

/// What one part of a file adds to each of its requests. Without a limit, a short file could make gigabytes of them.
@Suite("What the requests of other programs' files share", .ownThread)
struct ForeignInputLimitTests {
    private let long = String(repeating: "a", count: 30_000)

    private func collection(_ rest: String, _ request: String, count: Int) -> String {
        let requests = (0..<count).map { _ in request }.joined(separator: ",")
        return "{\"info\": {}, \(rest), \"item\": [{\"name\": \"f\", \"item\": [\(requests)]}]}"
    }

    @Test(
        "a Postman collection is refused if what its requests share makes them much longer than the file",
        arguments: [
            (#""variable": [{"key": "v", "value": "LONG"}]"#, #"{"request": "http://h/{{v}}"}"#),
            (#""variable": [{"key": "v", "value": "LONG"}]"#, #"{"request": {"url": "http://h/{{v}}{{v}}{{v}}"}}"#),
            (
                #""auth": {"type": "bearer", "bearer": [{"key": "token", "value": "LONG"}]}"#,
                #"{"request": {"url": "http://h/"}}"#
            ),
            (
                #""a": 1"#,
                #"{"request": {"url": {"raw": "/\#(String(repeating: ":i/", count: 99))", "variable": [{"key": "i", "value": "LONG"}]}}}"#
            ),
        ]
    )
    func postman(shared: String, request: String) throws {
        let text = collection(shared, request, count: 200).replacing("LONG", with: long)
        #expect { try drafts(.postman, text) } throws: { "\($0)".contains("are too long for so many requests") }
        let short = collection(shared, request, count: 200).replacing("LONG", with: "a")
        #expect(try drafts(.postman, short).count == 200)
    }

    @Test("a name in a Postman collection has no braces, so that the innermost ones enclose a variable")
    func braces() throws {
        let text = collection(
            #""variable": [{"key": "v", "value": "x"}]"#,
            #"{"request": "http://h/{{{v}}{{}}{v}"}"#,
            count: 1
        )
        #expect(try drafts(.postman, text).map(\.url) == ["http://h/%7Bx%7B%7B%7D%7D%7Bv%7D"])
    }

    @Test(
        "an OpenAPI description is refused if what its operations share makes them much longer than the file",
        arguments: [
            (#""servers": [{"url": "/LONG"}]"#, "{}"),
            (
                #""servers": [{"url": "/\#(String(repeating: "{v}", count: 99))", "variables": {"v": {"default": "LONG"}}}]"#,
                "{}"
            ),
            (
                #""c": {"p": {"name": "p", "in": "query", "required": true, "example": "LONG"}}"#,
                ##"{"parameters": [{"$ref": "#/c/p"}]}"##
            ),
            (
                #""c": {"b": {"content": {"application/json": {"example": ["LONG"]}}}}"#,
                ##"{"requestBody": {"$ref": "#/c/b"}}"##
            ),
            (
                #""c": {"s": {"type": "string", "minLength": 1000}}"#,
                """
                {"requestBody": {"content": {"application/json": {"schema": {"allOf": [\
                \(String(repeating: ##"{"required": ["p"], "properties": {"p": {"$ref": "#/c/s"}}},"##, count: 99))\
                {}]}}}}}
                """
            ),
        ]
    )
    func openAPI(shared: String, operation: String) throws {
        let paths = (0..<200).map { "\"/\($0)\": {\"get\": \(operation)}" }.joined(separator: ",")
        let text = #"{"openapi": "3.0.0", \#(shared), "paths": {\#(paths)}}"#
        #expect { try drafts(.openAPI, text.replacing("LONG", with: long)) } throws: {
            "\($0)".contains("are too long for so many requests")
        }
    }

    @Test("the variables of an OpenAPI server and of its paths are replaced once")
    func templates() throws {
        let text = """
            {"openapi": "3.0.0", "servers": [{"url": "/{v}/{w}", "variables": {"v": {"default": "{w}"}, "w": {"default": "x"}}}],
             "paths": {"/{a}/{b}/{a}": {"get": {"parameters": [
              {"name": "a", "in": "path", "example": "{b}"}, {"name": "b", "in": "path", "example": "1"}]}}}}
            """
        #expect(try drafts(.openAPI, text).map(\.url) == ["/{w}/x/%7Bb%7D/1/%7Bb%7D"])
    }
}
