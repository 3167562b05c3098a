import Testing
import UncurlHTTP1

@Suite struct HTTPFieldsTests {
    @Test("names compare without case, order is kept, the first value is given")
    func lookUp() throws {
        let fields = try fields("Vary: a", "X: 1", "vary: b", "VARY: c")
        #expect(
            fields["vArY"] == "a" && fields.values(of: "Vary") == ["a", "b", "c"] && fields.joined("vary") == "a, b, c"
        )
        #expect(fields["missing"] == nil && fields.joined("missing") == nil && !fields.contains("missing"))
        #expect(fields.count == 4 && fields.name(at: 2) == "vary" && fields.contains("x"))
        var seen: [String] = []
        fields.forEach { seen.append("\($0)=\($1)") }
        #expect(seen == ["Vary=a", "X=1", "vary=b", "VARY=c"])
    }

    @Test("Set-Cookie is never joined")
    func setCookie() throws {
        let fields = try fields("Set-Cookie: a=1; Expires=Sun, 06 Nov 1994 08:49:37 GMT", "set-cookie: b=2")
        #expect(fields.joined("Set-Cookie") == nil && fields.values(of: "Set-Cookie").count == 2)
    }

    @Test("replacing keeps the place of the first and removes the rest; removing removes all")
    func replace() throws {
        var fields = HTTPFields()
        for (name, value) in [("A", "1"), ("B", "2"), ("a", "3"), ("C", "4")] { try fields.append(name, value) }
        try fields.replace("a", "new")
        var lines: [String] = []
        fields.forEach { lines.append("\($0): \($1)") }
        #expect(lines == ["a: new", "B: 2", "C: 4"])
        try fields.replace("D", "5")
        fields.remove(name: "b")
        #expect(fields.count == 3 && fields["d"] == "5" && fields["B"] == nil)
        fields.removeAll(keepingCapacity: true)
        #expect(fields.isEmpty && fields == HTTPFields())
    }

    @Test("a known field is found by its name in any case, also after removals")
    func known() throws {
        var fields = try fields("Content-Length: 0", "HOST: a", "x-host: b")
        #expect(fields.first(.host).map { Array(fields.block[$0]) } == octets("a"))
        #expect(fields.known(at: 1) == .host && fields.known(at: 2) == .other)
        fields.remove(name: "host")
        #expect(fields.first(.host) == nil && !fields.contains(.host) && fields.contains(.contentLength))
        #expect(fields.first(.other) == nil)
    }

    @Test("two sections are equal if names, values and order are; case of names apart")
    func equality() throws {
        #expect(try fields("A: b", "C: d") == fields("a:  b ", "c: d"))
        #expect(try fields("A: b", "C: d") != fields("C: d", "A: b"))
        #expect(try fields("A: b") != fields("A: B"))
        #expect(try fields("A: b") != fields("A: b", "A: b"))
    }

    @Test("a copy is not changed by what happens to the original")
    func copies() throws {
        var fields = HTTPFields()
        try fields.append("A", "1")
        let copy = fields
        try fields.append("B", "2")
        fields.removeAll(keepingCapacity: true)
        try fields.append("C", "3")
        #expect(copy.count == 1 && copy["A"] == "1" && fields["C"] == "3")
    }

    @Test("trimmed fields say the same, pin no more than they need, and can be changed")
    func trimmed() throws {
        var scratch = try fields("X-Large: " + String(repeating: "x", count: 10_000), "Vary: a", "vary: b", "X: 1")
        scratch.removeAll(keepingCapacity: true)
        #expect(scratch.trimmed().isEmpty)
        for (name, value) in [("Vary", "a"), ("X", "1"), ("vary", "b")] { try scratch.append(name, value) }
        var kept = scratch.trimmed()
        #expect(scratch.block.count > 10_000 && kept.block.count < 100)
        #expect(kept == scratch && kept.isIdentical(to: scratch) && kept.values(of: "Vary") == ["a", "b"])
        #expect(kept.contains(.vary) && !kept.contains(.setCookie))
        for number in 0..<20 { try kept.append("Set-Cookie", "\(number)") }
        #expect(kept.count == 23 && kept["X"] == "1" && kept.values(of: "Set-Cookie").last == "19")
        #expect(scratch.count == 3)
    }

    @Test("assigning fields to a head keeps its start line")
    func assigning() throws {
        var head = try RequestHead(method: "GET", target: "/x")
        try head.fields.append("Host", "a")
        head.fields = HTTPFields()
        #expect(head.method == "GET" && head.target == "/x" && head.fields.isEmpty)
        var response = try responseHead("HTTP/1.1 200 Fine\r\nA: b\r\n\r\n")
        response.fields.removeAll()
        try response.fields.append("C", "d")
        #expect(response.reason == "Fine" && response.fields["C"] == "d" && response.fields.count == 1)
    }

    @Test("a description shows no values")
    func description() throws {
        #expect(try !"\(fields("Authorization: secret"))".contains("secret"))
    }

    @Test("every known field is recognised by its own name and by no neighbour of it")
    func knownNames() {
        for known in KnownField.allCases where known != .other {
            let name = "\(known.name)"
            #expect(KnownField(name: name) == known && KnownField(name: name.uppercased()) == known)
            for index in 0..<name.utf8.count {
                var changed = Array(name.utf8)
                changed[index] ^= 1
                #expect(KnownField(name: String(decoding: changed, as: UTF8.self)) == .other, "\(changed)")
            }
            #expect(KnownField(name: name + "x") == .other && KnownField(name: String(name.dropLast())) == .other)
        }
        #expect(KnownField(name: "keep\ralive") == .other && KnownField(name: "") == .other)
    }

    @Test("fields are identical if they have the same octets in the same order; the case of a letter matters")
    func identical() throws {
        let some = try fields("A: 1", "B: 2")
        #expect(some.isIdentical(to: some) && HTTPFields().isIdentical(to: HTTPFields()))
        #expect(try some.isIdentical(to: fields("A: 1", "B: 2")))
        let others = try [
            fields("a: 1", "B: 2"), fields("B: 2", "A: 1"), fields("A: 1"), fields("A: 1", "B: 3"),
            fields("A: 1", "B: 2", "C: 3"), fields("A: 12", "B: "),
        ]
        for other in others { #expect(!some.isIdentical(to: other), "\(other)") }
        // One block of octets still, and other ranges.
        var removed = some
        removed.remove(name: "B")
        var left = some
        left.remove(name: "A")
        #expect(!removed.isIdentical(to: left) && !removed.isIdentical(to: some))
    }
}
