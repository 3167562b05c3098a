import Foundation
import Testing

@testable import URLLoading

@Suite("The index of the cache on disk")
struct DiskIndexTests {
    @Test("only names in the cache's own form are entries")
    func names() {
        #expect(DiskIndex.isEntry("0123456789abcdef0123456789abcdef.entry"))
        for name in ["x.entry", "0123456789abcdef0123456789abcdeF.entry", "0123456789abcdef0123456789abcdef", ".entry"]
        {
            #expect(!DiskIndex.isEntry(name), "\(name)")
        }
    }

    @Test("the least recently used entries are evicted until an eighth is free")
    func victims() {
        var index = DiskIndex()
        for number in 0..<20 { index.set("\(number)", (size: 10, used: Int64(number))) }
        index.touch("0", 100)
        #expect(index.usage == 200 && index.victims(toFit: 200).isEmpty)
        #expect(index.victims(toFit: 160) == ["1", "2", "3", "4", "5", "6"])
        #expect(Set(index.victims(toFit: 0)).count == 20)
        index.set("3", (size: 1, used: 3))
        index.remove("4")
        index.remove("4")
        #expect(index.usage == 181)
    }

    @Test("an entry that was just stored is not evicted for the free eighth, but if it does not fit at all")
    func large() {
        var index = DiskIndex()
        index.set("old", (size: 10, used: 1))
        index.set("new", (size: 95, used: 2))
        #expect(index.victims(toFit: 100) == ["old"])
        #expect(index.victims(toFit: 90) == ["old", "new"])
    }

    @Test("a directory's entries are read, and what dead processes left is removed")
    func reading() throws {
        let folder = TemporaryFolder()
        #expect(try DiskIndex.read(folder.path, now: 0).state == nil)
        try folder.make()
        let name = "0123456789abcdef0123456789abcdef.entry"
        folder.write([1, 2, 3], to: name)
        folder.write([1], to: name + ".12-34.tmp")
        folder.write([1], to: "users-own.tmp")
        let now = try #require(StoreFile.state(folder.path)).time
        let index = try DiskIndex.read(folder.path, now: now)
        #expect(index.entries.mapValues(\.size) == [name: 3] && index.usage == 3)
        #expect(folder.names == [name, name + ".12-34.tmp", "users-own.tmp"])
        _ = try DiskIndex.read(folder.path, now: now + 3601 * 1_000_000_000)
        #expect(folder.names == [name, "users-own.tmp"])
    }

    @Test("an entry from the future counts as used now, and what dead processes left then is removed")
    func future() throws {
        let folder = TemporaryFolder()
        try folder.make()
        let name = "0123456789abcdef0123456789abcdef.entry"
        for file in [name, name + ".12-34.tmp"] {
            folder.write([1], to: file)
            var times = [timeval(tv_sec: 4_102_444_800, tv_usec: 0), timeval(tv_sec: 4_102_444_800, tv_usec: 0)]
            #expect(utimes(folder.path + "/" + file, &times) == 0)
        }
        let now = try #require(StoreFile.state(folder.path)).time
        var index = try DiskIndex.read(folder.path, now: now)
        #expect(folder.names == [name])
        index.set("later", (size: 1, used: now + 1))
        #expect(index.victims(toFit: 1) == [name])
    }
}
