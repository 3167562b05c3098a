import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl

/// Text by the label of its charset, beside what Python reads.
@Suite("Charsets", .ownThread, .timeLimit(.minutes(5)))
struct CharsetTests {
    /// By a label of each encoding, Python's name of it.
    private static let charsets = [
        "ibm866": "cp866", "latin2": "iso8859-2", "latin3": "iso8859-3", "latin4": "iso8859-4",
        "cyrillic": "iso8859-5", "arabic": "iso8859-6", "greek": "iso8859-7", "hebrew": "iso8859-8",
        "latin6": "iso8859-10", "iso-8859-13": "iso8859-13", "iso-8859-14": "iso8859-14", "l9": "iso8859-15",
        "iso-8859-16": "iso8859-16", "koi8-r": "koi8-r", "macintosh": "mac-roman", "x-mac-ukrainian": "mac-cyrillic",
        "tis-620": "cp874", "windows-1250": "cp1250", "windows-1251": "cp1251", "latin1": "cp1252",
        "windows-1253": "cp1253", "latin5": "cp1254", "windows-1255": "cp1255", "windows-1256": "cp1256",
        "windows-1257": "cp1257", "windows-1258": "cp1258",
    ]

    @Test("each octet of an encoding with one octet for a letter is the letter that Python reads")
    func octets() throws {
        let program = """
            import sys
            for name in sys.argv[1:]:
                for octet in range(0xA0, 256):
                    try: text = bytes([octet]).decode(name)
                    except UnicodeDecodeError: text = ""
                    print(name, octet, " ".join(str(ord(letter)) for letter in text))
            """
        let python = try EndedProgram("/usr/bin/env", ["python3", "-c", program] + Self.charsets.values.sorted())
        let lines = python.out.split(separator: "\n")
        #expect(python.status == 0 && lines.count == Self.charsets.count * 96)
        let labels = Dictionary(uniqueKeysWithValues: Self.charsets.map { ($1, $0) })
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            let (label, octet) = (try #require(labels[words[0]]), try #require(UInt8(words[1])))
            let received = answer(Data([octet]), type: "text/plain; charset=\(label)")
            let text = try? StringResponseSerializer().serialize(received)
            #expect(text.map { $0.unicodeScalars.map { "\($0.value)" } } ?? [] == Array(words.dropFirst(2)), "\(line)")
        }
    }

    @Test(
        "a text of several octets a letter is the text that Python has written",
        arguments: [
            ("shift_jis", "cp932", "日本語ー①ｱ"), ("euc-jp", "euc_jp", "日本語ー"), ("iso-2022-jp", "iso2022_jp", "日本語"),
            ("big5", "big5hkscs", "中文嘅"), ("gb2312", "gb18030", "中文㐀€"), ("ks_c_5601-1987", "cp949", "한국어똠"),
        ]
    )
    func letters(label: String, name: String, text: String) throws {
        let program = "import sys; print(sys.argv[2].encode(sys.argv[1]).hex())"
        let python = try EndedProgram("/usr/bin/env", ["python3", "-c", program, name, text])
        let digits = Array(python.out.utf8.prefix { $0 != 0x0A })
        let octets = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
        #expect(!octets.isEmpty)
        // More than the room of one conversion.
        let many = Array(repeating: octets, count: 5000).flatMap { $0 }
        let received = answer(Data(many), type: "text/plain; charset=\(label)")
        #expect(try StringResponseSerializer().serialize(received) == String(repeating: text, count: 5000))
    }

    @Test("a charset whose name is unknown is an error that has the name")
    func unknownCharset() throws {
        let outcome = StringResponseSerializer().outcome(of: answer("a", type: "text/plain; charset=who-knows"))
        guard case .charset("who-knows")? = outcome.serializationFailure?.reason else {
            Issue.record("\(outcome)")
            return
        }
    }
}
