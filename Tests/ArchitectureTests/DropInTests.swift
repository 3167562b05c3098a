import TestSupport
import Testing

/// The installed module FoundationNetworking has a name of its own for each type of URLLoading, and for no other.
@Suite("Drop-in", .ownThread)
struct DropInTests {
    @Test("each public type of URLLoading has its name in the module FoundationNetworking")
    func names() throws {
        let types = SourceTree.sources.filter { $0.room == "URLLoading" }.flatMap { file in
            file.code.matches(
                of: /(?m)^(?:@\w+\s+)*(?:public|open) (?:final )?(?:class|struct|enum|protocol|actor) (\w+)/
            )
            .map { String($0.1) }
        }
        let list = try #require(SourceTree.sources.first { $0.path == "Sources/DropIn/TypeNames.swift" })
        let names = list.code.matches(of: /public typealias (\w+) = URLLoading\.(\w+)/).map { match in
            #expect(match.1 == match.2)
            return String(match.1)
        }
        #expect(names.count == Set(names).count && types.count > 30)
        #expect(Set(names) == Set(types))
    }
}
