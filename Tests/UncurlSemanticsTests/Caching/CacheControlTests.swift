import Testing
import UncurlHTTP1

@testable import UncurlSemantics

@Suite("Cache-Control")
struct CacheControlTests {
    private func control(_ lines: String...) -> CacheControl {
        var all = HTTPFields()
        for line in lines { try? all.append("Cache-Control", line) }
        return CacheControl(all)
    }

    @Test("directives are read over all lines, without regard to case; unknown ones mean nothing")
    func directives() {
        let read = control("No-Store, PUBLIC, x-new=\"a, no-cache\"", "immutable, must-revalidate,, private")
        #expect(read.noStore && read.isPublic && read.isPrivate && read.isImmutable && read.mustRevalidate)
        #expect(!read.noCache)
        #expect(control("must-understand, only-if-cached").mustUnderstand)
        #expect(control("must-understand, only-if-cached").onlyIfCached)
    }

    @Test(
        "seconds are digits, quoted or not, and never too many",
        arguments: [
            ("max-age=60", .value(60)), ("max-age=\"60\"", .value(60)), ("max-age = 60", .value(60)),
            ("max-age=0", .value(0)), ("max-age=2147483648", .value(1 << 31)),
            ("max-age=99999999999999999999999", .value(1 << 31)), ("max-age=60, max-age=60", .value(60)),
            ("max-age=60, max-age=61", .invalid), ("max-age=x, max-age=60", .invalid), ("max-age", .invalid),
            ("max-age=", .invalid), ("max-age=-1", .invalid), ("max-age=1.5", .invalid), ("max-age=٥", .invalid),
            ("s-maxage=60", .absent),
        ] as [(String, CacheControl.Seconds)]
    )
    func seconds(line: String, expected: CacheControl.Seconds) {
        #expect(control(line).maxAge == expected)
    }

    @Test("no-cache with field names is no-cache, and the names are known")
    func noCacheFields() {
        let read = control("no-cache=\"Set-Cookie, X-A\", max-age=5")
        #expect(read.noCache && read.noCacheFields == ["set-cookie", "x-a"] && read.maxAge == .value(5))
        let blank = control("no-cache = \"X-A\", private\t=\t\"X-B\"")
        #expect(blank.noCache && blank.noCacheFields == ["x-a"] && blank.isPrivate)
        #expect(control("private=\"\", no-cache=\",\"").isPrivate)
    }

    @Test("max-stale is any, some, or none")
    func maxStale() {
        #expect(control("max-stale").maxStale == .max)
        #expect(control("max-stale=5").maxStale == 5)
        #expect(control("max-stale=x").maxStale == .none)
    }

    @Test("Pragma speaks only where Cache-Control does not")
    func pragma() {
        #expect(CacheControl(fields(("Pragma", "no-cache"))).noCache)
        #expect(!CacheControl(fields(("Pragma", "no-cache"), ("Cache-Control", "max-age=5"))).noCache)
    }

    @Test("a combining mark belongs to no separator, and a directive with one is another directive")
    func combiningMarks() {
        #expect(control("max-age=\u{301}5").maxAge == .invalid)
        #expect(control("max-age=\"\u{301}5\"").maxAge == .invalid)
        #expect(control("no-cache=\"X-A,\u{301}b, X-C\"").noCacheFields == ["x-a", "x-c"])
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        #expect(control("no-store\u{301}, \(run), private=\(run), no-cache=\(run)").noStore == false)
        #expect(control("no-store\u{301}, \(run), private=\(run), no-cache=\(run)").isPrivate)
    }
}
