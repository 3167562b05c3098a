import Glibc
import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Owned descriptors", .ownThread)
struct OwnedFDTests {
    @Test("the peer of a dropped descriptor sees the end; a released one stays open")
    func ownership() {
        let (ours, theirs) = Wire.pair()
        let peer = OwnedFD(taking: theirs)
        let kept = OwnedFD(taking: ours).release()
        #expect(fcntl(kept, F_GETFD) >= 0)
        do { _ = OwnedFD(taking: kept) }
        #expect(Wire.readAll(peer.number) == "")
    }
}
