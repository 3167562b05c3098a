import Foundation
import TestSupport
import Testing

@testable import URLLoading

@Suite("SuggestedFilename", .ownThread)
struct SuggestedFilenameTests {
    private func name(_ contentDisposition: String?, _ url: String = "http://host.test/dir/path.bin?q") -> String {
        ResponseValues.filename(of: URL(string: url), contentDisposition: contentDisposition)
    }

    @Test("the server's name is preferred to the URL's")
    func stated() {
        #expect(name("attachment; filename=a.txt") == "a.txt")
        #expect(name("attachment; FileName=\"a b.txt\"") == "a b.txt")
        #expect(name("inline;filename=\"q\\\"uote\"") == "q\"uote")
        #expect(name(#"attachment; aa=bb\; filename="wrong"; filename="right""#) == "right")
    }

    @Test("without the server's name it is the last part of the path, or else Unknown")
    func fallback() {
        #expect(name(nil) == "path.bin")
        #expect(name("attachment") == "path.bin")
        #expect(name("attachment; filename=\"\"") == "path.bin")
        #expect(name(nil, "http://host.test/a/b/") == "b")
        #expect(name(nil, "http://host.test/%C3%BC") == "ü")
        for url in ["http://host.test", "http://host.test/", "a://bar", "http://host.test/.."] {
            #expect(name(nil, url) == "Unknown")
        }
    }

    @Test("the extended form is preferred, in UTF-8 or Latin 1, and ignored where it breaks its rules")
    func extended() {
        #expect(name("a; filename=\"EURO.txt\"; filename*=utf-8''%e2%82%ac%20rates") == "€ rates")
        #expect(name("a; filename*=UTF-8'en'x; filename=y") == "x")
        #expect(name("a; filename*=iso-8859-1''%A3.txt") == "£.txt")
        for broken in [
            "utf-8''%e2%82", "utf-8''%zz", "utf-8''%+1", "utf-8''%a", "utf-8'x", "x", "koi8-r''a", "utf-8''",
        ] {
            #expect(name("a; filename*=\(broken); filename=plain") == "plain")
        }
    }

    @Test(
        "a name is never a path, hidden, or anything that hides what it is",
        arguments: [
            ("/a/b/name", "_a_b_name"), ("../../x", "_._.._x"), ("a/../b", "a_.._b"), (#"..\\..\\x"#, "_._.._x"),
            ("a/b/", "a_b_"), ("/", "path.bin"), ("a/..", "a_.."),
            (".bashrc", "_bashrc"), (".\u{301}x", "_\u{301}x"), ("a/\u{301}b", "a_\u{301}b"),
            ("a\u{202E}txt.exe", "atxt.exe"), ("a\u{85}b\u{7F}", "ab"), (" a ", "a"), ("..", "path.bin"),
            (".", "path.bin"), ("...", "path.bin"),
        ]
    )
    func sanitized(given: String, kept: String) {
        #expect(name("attachment; filename=\"\(given)\"") == kept)
        let encoded = given.utf8.map { "%" + (String($0, radix: 16).count < 2 ? "0" : "") + String($0, radix: 16) }
        if !given.contains("\\") { #expect(name("attachment; filename*=utf-8''\(encoded.joined())") == kept) }
    }

    @Test("a slash that the URL encodes is no separator either")
    func encodedSlash() {
        #expect(name(nil, "http://host.test/..%2F..%2Fetc") == "_._.._etc")
    }

    @Test("a name is at most 255 octets long, keeps its extension and no half characters")
    func length() {
        let long = name("a; filename=\"\(String(repeating: "ü", count: 300)).tar\"")
        #expect(long.utf8.count <= 255)
        #expect(long.utf8.count >= 254)
        #expect(long.hasSuffix("ü.tar"))
        #expect(name("a; filename=\"\(String(repeating: ".x", count: 300))\"").utf8.count == 255)
    }

    @Test("a name that is one character with hundreds of marks is cut inside it, and keeps its extension")
    func marks() {
        let long = name("a; filename=\"a\(String(repeating: "\u{301}", count: 300)).txt\"")
        #expect(long.utf8.count <= 255 && long.utf8.count > 252)
        #expect(long.unicodeScalars.starts(with: "a\u{301}".unicodeScalars) && long.hasSuffix(".txt"))
    }

    @Test("a URL with no slash after its scheme gives no name", arguments: ["data:text/plain,abc", "mailto:a@h.test"])
    func opaque(url: String) {
        #expect(name(nil, url) == "Unknown")
    }

    @Test(
        "a name of 64 KiB takes no time, whatever it is made of",
        .timeLimit(.minutes(5)),
        arguments: ["a", "ü", ".", "e\u{301}", "\u{301}", "🇩🇪", "👨‍👩‍👧", "%41", "क्", " ", "\u{202E}", "/"]
    )
    func long(unit: String) {
        for field in ["a; filename=\"NAME\"", "a; filename*=utf-8''NAME", "a; filename=\"xNAME.txt\""] {
            let named = { (length: Int) in
                field.replacing("NAME", with: String(repeating: unit, count: length / unit.utf8.count))
            }
            expectProportionalTime(from: 16 << 10, of: named) { field in
                let name = name(field)
                #expect(!name.isEmpty && name.utf8.count <= 255)
            }
        }
    }

    @Test("a combining mark is part of no separator, quote or dot")
    func combiningMarks() {
        #expect(name("attachment; filename=\"a/\u{301}b\"").utf8.elementsEqual("a_\u{301}b".utf8))
        #expect(name("attachment; filename=\".\u{301}b\"").utf8.elementsEqual("_\u{301}b".utf8))
        #expect(name("attachment; filename*=UTF-8'\u{301}'x") == "x")
    }
}
