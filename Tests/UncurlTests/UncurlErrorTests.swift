import Testing
import Uncurl

@Suite("Uncurl's errors")
struct UncurlErrorTests {
    @Test("one import brings the session manager's room and URLSession")
    func oneImport() {
        #expect(URLSessionConfiguration.default.timeoutIntervalForRequest == 60)
    }
}
