internal import Foundation
internal import Glibc
internal import Synchronization

/// The storages on disk that a process has, one for each file, which are written for the last time when it exits.
enum CookieStorages {
    static let shared = make("shared")

    private static let groups = Mutex<[String: HTTPCookieStorage]>([:])
    private static let opened = Mutex<[CookieStore]>([])

    static func group(_ identifier: String) -> HTTPCookieStorage {
        groups.withLock { groups in
            if let storage = groups[identifier] { return storage }
            let storage = make("group", identifier)
            groups[identifier] = storage
            return storage
        }
    }

    private static func make(_ kind: String, _ identifier: String? = nil) -> HTTPCookieStorage {
        let store = CookieStore(file: CookieFile(path: path(kind, identifier)))
        let isFirst = opened.withLock { stores in
            stores.append(store)
            return stores.count == 1
        }
        if isFirst { atexit { CookieStorages.flushAll() } }
        return HTTPCookieStorage(store: store)
    }

    private static func flushAll() {
        for store in opened.withLock({ $0 }) { store.flush(upTo: CookieStore.exitLockLimit) }
    }

    /// A program's own storage lies in its folder; a group's in one that all programs find.
    static func path(_ kind: String, _ identifier: String?) -> String {
        let folder = identifier.map { StoreDirectories.data(of: name($0)) } ?? StoreDirectories.data
        return "\(folder)/cookies.\(kind).json"
    }

    /// As the name of one folder, whatever is in it; never "..", and of different ones never the same.
    private static func name(_ identifier: String) -> String {
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-_."))
        let name = identifier.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        return name.allSatisfy { $0 == "." } ? "%" + name : name
    }
}
