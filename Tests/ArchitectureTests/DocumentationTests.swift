import TestSupport
import Testing

@Suite("Documentation", .ownThread)
struct DocumentationTests {
    /// Rooms in which nothing public lacks its words. A room is added by its name and never taken out.
    static let documented = [
        "UncurlHTTP1", "UncurlEngine", "UncurlSemantics", "UncurlLoad", "UncurlLoadReports", "UncurlReactor",
        "UncurlTLS", "UncurlTestServer",
        "UncurlText", "URLLoading",
        "Uncurl", "UncurlExtras", "UncurlTestKit", "UncurlXML", "UncurlWebSocket",
    ]

    /// Rooms in which comments are no wider than code: those, and others that have nothing public.
    static let narrow = documented + ["UncurlClient", "UncurlLocust", "fetch", "httpbin", "volley"]

    /// Of all rooms: a member may implement what a protocol of another room requires. What UncurlText has is there for the other
    /// rooms alone, so that it counts as public.
    private static let declarations = PublicDeclarations(
        of: SourceTree.sources.map { file in
            guard file.room == "UncurlText" else { return file }
            return SourceTree.File(
                path: file.path,
                text: file.text,
                code: file.code.replacing(/(?m)\bpackage\b/, with: "public")
            )
        }
    )
    private static let undocumented = declarations.undocumented

    @Test("every public declaration is documented", arguments: documented)
    func everythingIsDocumented(room: String) {
        let folder = "Sources/\(room)/"
        #expect(Self.declarations.all.contains { $0.file.hasPrefix(folder) })
        let missing = Self.undocumented.filter { $0.file.hasPrefix(folder) }.map(\.description).joined(separator: "\n")
        #expect(missing.isEmpty, "without documentation:\n\(missing)")
    }

    @Test("comments are no wider than code; tables may be", arguments: narrow)
    func width(room: String) {
        for file in SourceTree.sources where file.room == room {
            for (number, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let text = line.drop { $0 == " " }
                guard text.hasPrefix("//"), !text.contains("| ") else { continue }
                #expect(line.count <= 120, "\(file):\(number + 1)")
            }
        }
    }

    private func declarations(_ text: String) -> PublicDeclarations {
        let code = SwiftText.withoutCommentsAndStrings(text)
        return PublicDeclarations(of: [SourceTree.File(path: "a.swift", text: text, code: code)])
    }

    @Test("types, members, cases and requirements count; what is not public, and what bodies hold, does not")
    func counted() {
        let found = declarations(
            """
            public struct A<T: Hashable>: Sendable where T: Sendable {
                public let b = 1, c: Int
                private(set) public var d: Int { get { let e = 1; return e } }
                public static func == (l: A, r: A) -> Bool { true }
                public init?(_ f: (Int, Int) -> Void = { _, _ in }, to g: [Int] = []) { struct H { public var i = 1 } }
                var j: Int { 1 }
                public enum K { case l(m: Int), n; indirect case o }
                struct P { public var q = 1 }
                public subscript(r s: Int) -> Int { s }
            }
            @available(*, deprecated, message: "no")
            @discardableResult
            public func t<U>(u: U, _ v: Int) async throws -> U { u }
            extension A.K { public func w() {} ; func x() {} }
            public extension A { var y: Int { 1 }; private var z: Int { 1 } }
            public protocol AA: Sendable { associatedtype AB; func ac(_ ad: Int) async; var ae: Int { get } }
            class AF { public func ag() {} }
            public class AK { private var al = AM.open
                enum AN { case ao } }
            open class AH { public class func ai() {}; open override func aj() {} }
            """
        )
        #expect(
            found.all.map { ($0.scope + [$0.name]).joined(separator: ".") } == [
                "A", "A.b", "A.d", "A.==", "A.init(_:to:)", "A.K", "A.K.l", "A.K.n", "A.K.o", "A.subscript(r:)",
                "t(u:_:)", "K.w()", "A.y", "AA", "AA.AB", "AA.ac(_:)", "AA.ae", "AK", "AH", "AH.ai()",
                "AH.aj()",
            ]
        )
    }

    @Test("a comment above attributes and other comments documents; one inside, or above a blank line, does not")
    func comments() {
        let found = declarations(
            """
            /// Words.
            // A reason.
            @discardableResult
            public func a() {}
            /// Words.

            public func b() {
                /// Inside.
            }
            public let c = \"\"\"
                one \\
                two
                \"\"\"
            /// Words.
            public let d = 1
            // None.
            public let e = 1
            """
        )
        #expect(found.undocumented.map(\.name) == ["b()", "c", "e"])
    }

    @Test("what implements a documented requirement, or overrides, needs no words of its own")
    func witnesses() {
        let found = declarations(
            """
            /// Words.
            public protocol P {
                /// Words.
                func a(_ b: Int)
                func c()
            }
            extension P { public func a(_ b: Int) {} ; public func d() {} }
            /// Words.
            public protocol Q: P {}
            /// Words.
            public struct S: Q { public func a(_ e: Int) {} }
            extension S { public func a(f: Int) {} ; public var description: String { "" } }
            /// Words.
            public class T {
                public override func g() {}
                public func a(_ b: Int) {}
            }
            """
        )
        #expect(found.undocumented.map(\.name) == ["c()", "d()", "a(f:)", "a(_:)"])
    }
}
