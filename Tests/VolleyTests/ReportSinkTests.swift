import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct ReportSinkTests {
    private func named(_ formats: [String], _ outputs: [String]) throws -> [String] {
        try ReportSink.parse(formats, outputs: outputs).map { "\($0.format)=\($0.path ?? "-")" }
    }

    @Test("files go to the formats in turn, and others by their names' endings")
    func pairs() throws {
        #expect(try named([], []) == ["text=-"])
        #expect(try named(["json"], ["a"]) == ["json=a"])
        #expect(try named(["json", "csv"], ["a", "b"]) == ["json=a", "csv=b"])
        #expect(try named(["json=x", "csv", "text"], ["b"]) == ["json=x", "csv=b", "text=-"])
        #expect(try named(["text"], ["t", "r.html"]) == ["text=t", "html=r.html"])
        #expect(try named(["wrk"], ["r.json"]) == ["wrk=-", "json=r.json"])
        #expect(try named(["requests", "json"], ["o.json", "log.csv"]) == ["requests=log.csv", "json=o.json"])
        #expect(try named([], ["r.HTML", "d.j/o.json", "l.hlog", "p.hgrm", "i.csv"]).last == "text=-")
    }

    @Test(
        "an impossible combination is refused with a remedy",
        arguments: [
            (["yaml"], [], "is unknown"), (["json="], [], "names no file"), (["json", "text"], [], "more than once"),
            (["json=a", "csv=a"], [], "one file twice"), ([], ["report"], "says no format"),
            ([], ["r.pdf"], "says no format"),
        ] as [([String], [String], String)]
    )
    func refused(formats: [String], outputs: [String], words: String) {
        #expect { try ReportSink.parse(formats, outputs: outputs) } throws: { "\($0)".contains(words) }
    }

    @Test("a file that cannot be written is reported with the flag that named it")
    func named() throws {
        #expect { try ReportFile.open(ReportSink.parse([], outputs: ["/nowhere/x.json"])) } throws: {
            "\($0)".hasPrefix("-o \"/nowhere/x.json\" cannot be written")
        }
        #expect { try ReportFile.open(ReportSink.parse(["json=/nowhere/x"])) } throws: {
            "\($0)".hasPrefix("--format \"/nowhere/x\" cannot be written")
        }
    }
}
