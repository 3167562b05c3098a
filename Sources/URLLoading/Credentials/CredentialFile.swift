internal import Foundation
internal import UncurlText

/// The permanent credentials of a program, on disk: ``SealedJSON``, readable by its owner alone. **Passwords are in it
/// unencrypted**; a program that wants them encrypted keeps them itself.
///
/// Any number of processes may share it: each change is made, under a lock, to what the file holds at that time, and
/// the file is replaced whole.
struct CredentialFile: Sendable {
    let path: String

    /// The longest file that is read and written, in octets: some ten thousand credentials.
    private static let limit = 4 << 20

    struct Row: Codable, Hashable {
        var host: String
        var port: Int
        var server: String?
        var proxy: String?
        var isProxy: Bool
        var realm: String?
        var method: String
        var user: String
        var password: String
        var isDefault: Bool
    }

    private struct Contents: Codable {
        var version = 1
        var credentials: [Row]
    }

    /// The file's state. It changes when another process has changed the file.
    var state: StoreFile.State? { StoreFile.state(path) }

    enum Failure: Error, Equatable {
        case file(StoreFile.Fault)
        /// The file holds no credentials in our format, or only part of them.
        case damaged
    }

    /// Returns the credentials; none if there is no file.
    func read() throws(Failure) -> CredentialTable {
        let bytes: [UInt8]
        do throws(StoreFile.Fault) {
            bytes = try StoreFile.read(path, limit: Self.limit)
        } catch {
            switch error.code {
            case ENOENT: return CredentialTable()
            case EFBIG: throw .damaged
            default: throw .file(error)
            }
        }
        guard let table = Self.decode(bytes) else { throw .damaged }
        return table
    }

    /// Nil for a file that is damaged, or is no file of credentials.
    static func decode(_ bytes: [UInt8]) -> CredentialTable? {
        guard let json = SealedJSON.content(of: bytes), (try? JSONReader.check(json.span)) != nil,
            let contents = try? JSONDecoder().decode(Contents.self, from: Data(json)), contents.version == 1
        else { return nil }
        var table = CredentialTable()
        for row in contents.credentials where row.isComparable {
            let credential = Credential(
                proof: .password(user: row.user, password: row.password),
                persistence: .permanent
            )
            _ =
                row.isDefault
                ? table.setDefault(credential, for: row.space) : table.set(credential, for: row.space, isFirst: false)
        }
        return table
    }

    /// Nil if the content cannot be sealed.
    static func encode(_ table: CredentialTable) -> [UInt8]? {
        let rows = table.spaces.flatMap { space, credentials in
            credentials.values.compactMap { Row($0, space, isDefault: table.defaults[space] == $0) }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let sorted = rows.sorted { ($0.host, $0.port, $0.user) < ($1.host, $1.port, $1.user) }
        return (try? encoder.encode(Contents(credentials: sorted))).flatMap { SealedJSON.closed(Array($0)) }
    }

    /// Removes what killed writers have left beside the file: it holds unencrypted passwords.
    func removeLeftovers() { StoreFile.removeLeftoversIfUnlocked(of: path) }

    /// The path to which ``update(_:)`` moves a file that is ``Failure/damaged``.
    var damagedPath: String { StoreFile.damagedPath(of: path) }

    /// A lock is held while the file is written once, some milliseconds; only a stopped process holds it longer.
    private static let lockLimit = Duration.seconds(1)

    /// Makes a change to what the file holds, and returns the result and the state that the file has with it. A damaged
    /// file counts as empty and is moved aside. Blocks while another process does the same, for a second at most.
    ///
    /// - Throws: the disk's error: it may be full, or read-only. EBUSY: another process holds the lock. EFBIG: the file
    ///   would be too long to be read.
    func update(
        _ change: (inout CredentialTable) -> Void
    ) throws(StoreFile.Fault) -> (table: CredentialTable, state: StoreFile.State?) {
        try StoreFile.makeDirectory(StoreFile.parent(of: path))
        return try StoreFile.locked(path + ".lock", upTo: Self.lockLimit) { () throws(StoreFile.Fault) in
            let before: CredentialTable
            do throws(Failure) {
                before = try read()
            } catch {
                switch error {
                case .file(let fault): throw fault
                case .damaged:
                    StoreFile.setAside(path)
                    before = CredentialTable()
                }
            }
            StoreFile.removeLeftovers(of: path)
            var table = before
            change(&table)
            if table != before { try write(table) }
            // Read under the lock: later it may be the state of what another process has written.
            return (table, state)
        }
    }

    private func write(_ table: CredentialTable) throws(StoreFile.Fault) {
        guard let octets = Self.encode(table) else { throw StoreFile.Fault(code: EINVAL) }
        guard octets.count <= Self.limit else { throw StoreFile.Fault(code: EFBIG) }
        try StoreFile.replace(path, with: octets, isDurable: true)
    }
}

extension CredentialFile.Row {
    /// Nil for what is not written: private keys, trust, and credentials for this session only.
    init?(_ credential: Credential, _ space: ProtectionSpaceValues, isDefault: Bool) {
        guard credential.persistence == .permanent, case .password(let user, let password) = credential.proof else {
            return nil
        }
        let (server, proxy): (String?, String?) =
            switch space.side {
            case .server(let name): (name, nil)
            case .proxy(let kind): (nil, kind)
            }
        self.init(
            host: space.host,
            port: space.port,
            server: server,
            proxy: proxy,
            isProxy: space.isProxy,
            realm: space.realm,
            method: space.method,
            user: user,
            password: password,
            isDefault: isDefault
        )
    }

    /// Whether no part of the space has a run of combining marks that takes long to compare. Realms are compared by
    /// their octets.
    fileprivate var isComparable: Bool {
        ![host, server, proxy, method].contains { $0.map(MarkRun.isTooLong) ?? false }
    }

    var space: ProtectionSpaceValues {
        ProtectionSpaceValues(
            host: host,
            port: port,
            side: isProxy ? .proxy(proxy) : .server(server),
            realm: realm,
            method: method
        )
    }
}
