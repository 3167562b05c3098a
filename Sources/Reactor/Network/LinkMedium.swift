internal import CLinux

/// What a link is made of, as far as people pay for it in different coin.
public enum LinkMedium: Hashable, Sendable, CaseIterable {
    /// Cables, and everything that is neither of the others: loopback, bridges, tunnels.
    case wired
    /// Wi-Fi, by 802.11.
    case wireless
    /// A modem's: charged by the byte, as a rule.
    case cellular

    /// Where the kernel tells what its devices are.
    public static let systemFolder = "/sys/class/net"

    /// By the driver's word (DEVTYPE in sysfs), by the kind of a link made in software, and only then by its name,
    /// which systemd gives by the same word (systemd.net-naming-scheme(7)).
    ///
    /// - Parameters:
    ///   - hardware: ARPHRD_….
    ///   - kind: IFLA_INFO_KIND, or nothing.
    static func of(name: String, hardware: UInt16, kind: String, folder: String) -> LinkMedium {
        // ARPHRD_IEEE80211 and its two forms for monitors; ARPHRD_RAWIP, which only modems use.
        if (801...803).contains(hardware) { return .wireless }
        if hardware == 519 || kind == "wwan" { return .cellular }
        switch deviceType(name, folder) {
        case "wlan"?: return .wireless
        case "wwan"?: return .cellular
        case .some: return .wired
        case nil: break
        }
        // What is made in software is what it is, whatever its name.
        if !kind.isEmpty { return .wired }
        if name.hasPrefix("wl") { return .wireless }
        if name.hasPrefix("ww") || name.hasPrefix("rmnet") { return .cellular }
        return .wired
    }

    /// Nil where the file is not there, or says nothing of it. The kernel answers from memory: this does not block.
    private static func deviceType(_ name: String, _ folder: String) -> Substring? {
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else { return nil }
        let number = unsafe uncurl_open_read("\(folder)/\(name)/uevent")
        guard number >= 0 else { return nil }
        let file = OwnedFD(taking: number)
        // The file is a few lines; one page is what sysfs gives at most.
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let length = buffer.count
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file.number, $0.baseAddress, length) }
        guard count > 0 else { return nil }
        let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix("DEVTYPE=") }?.dropFirst("DEVTYPE=".count)
    }
}
