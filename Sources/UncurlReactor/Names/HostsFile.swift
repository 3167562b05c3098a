/// The machine's own table of names (hosts(5)). It is read anew for each look-up, as `getaddrinfo` does: a change
/// applies at once.
///
/// Its names need no server. Since it is read separately from `getaddrinfo`, it answers however many look-ups wait for
/// silent servers.
struct HostsFile: Sendable {
    /// The largest file that is read: blocklists have some 300,000 lines. Larger files are left to `getaddrinfo`.
    private static let largest: UInt64 = 16 << 20

    let path: String

    /// Returns a name's addresses of both families in the file's order; none if it does not hold the name, or cannot be
    /// read. Waits for the disk.
    func addresses(of name: HostName) -> [IPAddress] {
        guard let file = try? OpenFile(path: path), file.status.size <= HostsFile.largest,
            let content = try? file.read(at: 0, atMost: Int(file.status.size))
        else { return [] }
        let wanted = Array(name.bare.utf8)
        return content.split(separator: UInt8(ascii: "\n")).compactMap { HostsFile.address(of: wanted, in: $0) }
    }

    /// Reads a line: `address name alias … # comment`
    private static func address(of name: [UInt8], in line: ArraySlice<UInt8>) -> IPAddress? {
        let words = line.prefix { $0 != UInt8(ascii: "#") }.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        guard let first = words.first, words.dropFirst().contains(where: { isEqual($0, name) }) else { return nil }
        return IPAddress(String(decoding: first, as: UTF8.self))
    }

    /// - Parameter name: in lower case.
    private static func isEqual(_ word: ArraySlice<UInt8>, _ name: [UInt8]) -> Bool {
        word.elementsEqual(name) { byte, wanted in ((65...90).contains(byte) ? byte | 0x20 : byte) == wanted }
    }
}
