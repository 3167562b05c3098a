internal import Foundation
internal import Glibc
internal import Synchronization

/// The cookie stores on disk of this process, one for each file. They are written for the last time when it exits.
enum CookieStores {
    private static let opened = Mutex<[CookieStore]>([])

    static func open(_ path: String, writesFirstAtOnce: Bool = false) -> CookieStore {
        let store = CookieStore(file: CookieFile(path: path), writesFirstAtOnce: writesFirstAtOnce)
        let isFirst = opened.withLock { stores in
            stores.append(store)
            return stores.count == 1
        }
        if isFirst { atexit { CookieStores.flushAll() } }
        return store
    }

    private static func flushAll() {
        for store in opened.withLock({ $0 }) { store.flush(upTo: CookieStore.exitLockLimit) }
    }

    static var sharedPath: String { sharedPath(ofBundle: Bundle.main.bundlePath) }

    /// Returns the path of FoundationNetworking's shared storage for a bundle's path, which is that of the executable's
    /// folder. The storage's folder has the bundle's name without its extension.
    static func sharedPath(ofBundle path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        return StoreDirectories.data(of: String(name[..<(name.lastIndex(of: ".") ?? name.endIndex)]))
            + "/.cookies.shared"
    }

    /// Returns the path of a group's storage, in a folder that all programs find.
    static func path(ofGroup identifier: String) -> String {
        StoreDirectories.data(of: name(identifier)) + "/cookies.group.json"
    }

    /// Returns a name for one folder, whatever the identifier holds: never "..", and different for different
    /// identifiers.
    private static func name(_ identifier: String) -> String {
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-_."))
        let name = identifier.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        return name.allSatisfy { $0 == "." } ? "%" + name : name
    }
}
