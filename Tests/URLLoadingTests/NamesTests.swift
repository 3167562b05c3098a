import Testing
import URLLoading

@Suite("Names")
struct NamesTests {
    @Test("one import brings Foundation too, and our names take precedence over its unavailable ones")
    func oneImport() {
        let session: URLSession.Type = URLSession.self
        #expect(Data().isEmpty)
        #expect(session === URLSession.self)
    }
}
