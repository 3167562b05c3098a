internal import Foundation
internal import Glibc
internal import Synchronization

/// The cookie stores on disk that a process has, one for each file, which are written for the last time when it exits.
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

    /// Where FoundationNetworking's shared storage has its file: in a folder named as the bundle's, which is the
    /// executable's folder.
    static var sharedPath: String {
        let folder = URL(fileURLWithPath: Bundle.main.bundlePath).deletingPathExtension().lastPathComponent
        return StoreDirectories.data(of: name(folder == "/" ? "" : folder)) + "/.cookies.shared"
    }

    /// In a folder that all programs find.
    static func path(ofGroup identifier: String) -> String {
        StoreDirectories.data(of: name(identifier)) + "/cookies.group.json"
    }

    /// As the name of one folder, whatever is in it; never "..", and of different ones never the same.
    private static func name(_ identifier: String) -> String {
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-_."))
        let name = identifier.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        return name.allSatisfy { $0 == "." } ? "%" + name : name
    }
}
