import TestSupport
import Testing
import Uncurl

@Suite("Headers")
struct HTTPHeadersTests {
    @Test(
        "names are found in any case, setting a value replaces the first field, and repeated fields stay separate",
        .rows("B16")
    )
    func names() {
        var headers: HTTPHeaders = ["Accept": "a", "X-One": "1", "accept": "b"]
        #expect(headers["ACCEPT"] == "a, b")
        #expect(headers.values(of: "accept") == ["a", "b"])
        headers["accept"] = "c"
        #expect(headers.map(\.name) == ["accept", "X-One"])
        #expect(headers["Accept"] == "c")
        headers["x-one"] = nil
        #expect(headers.count == 1)
        headers.add("Set-Cookie", "a=1")
        headers.add("Set-Cookie", "b=2")
        #expect(headers.values(of: "set-cookie") == ["a=1", "b=2"])
        #expect(headers.contains("SET-COOKIE"))
    }

    @Test("headers sort by name, merge with the other's winning, and make a dictionary", .rows("B16"))
    func merging() {
        var headers: HTTPHeaders = ["b": "1", "A": "2"]
        #expect(headers.sorted().map(\.name) == ["A", "b"])
        headers.merge(["B": "3", "c": "4"])
        #expect(headers.map(\.value) == ["2", "3", "4"])
        #expect(headers.dictionary == ["A": "2", "B": "3", "c": "4"])
        #expect(HTTPHeaders(["z": "1", "y": "2"] as [String: String]).map(\.name) == ["y", "z"])
        #expect(HTTPHeaders([.accept("x"), .authorization(bearer: "t")])["authorization"] == "Bearer t")
    }
}
