internal import CUncurlLinux

/// The medium of a link, as far as people pay for it differently.
public enum LinkMedium: Hashable, Sendable, CaseIterable {
    /// Cables, and everything that is none of the others: loopback, bridges, tunnels.
    case wired
    /// Wi-Fi, by 802.11.
    case wireless
    /// A modem, usually charged by the byte.
    case cellular

    /// Where the kernel tells the kinds of its devices.
    public static let systemFolder = "/sys/class/net"

    /// Returns the medium by the driver's type (DEVTYPE in sysfs), by the kind of a link made in software, and only
    /// then by its name, which systemd derives from the same type (systemd.net-naming-scheme(7)).
    ///
    /// - Parameters:
    ///   - hardware: ARPHRD_….
    ///   - kind: IFLA_INFO_KIND, or empty.
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
        // The kind of a link made in software is known, whatever its name.
        if !kind.isEmpty { return .wired }
        if name.hasPrefix("wl") { return .wireless }
        if name.hasPrefix("ww") || name.hasPrefix("rmnet") { return .cellular }
        return .wired
    }

    /// Returns DEVTYPE; nil if there is no file, or it does not hold the type. The kernel answers from memory: this
    /// does not block.
    private static func deviceType(_ name: String, _ folder: String) -> Substring? {
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else { return nil }
        let number = unsafe uncurl_open_read("\(folder)/\(name)/uevent")
        guard number >= 0 else { return nil }
        let file = OwnedFD(taking: number)
        // The file is a few lines; sysfs gives one page at most.
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let length = buffer.count
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file.number, $0.baseAddress, length) }
        guard count > 0 else { return nil }
        let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix("DEVTYPE=") }?.dropFirst("DEVTYPE=".count)
    }
}
