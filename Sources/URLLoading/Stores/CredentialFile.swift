internal import Foundation
internal import UncurlReactor
internal import UncurlText

/// The permanent credentials of a program, on disk. **Passwords are in it unencrypted**; a program that wants them
/// encrypted keeps them itself. Any number of processes may share it: each change is made to what the file holds at
/// that time.
typealias CredentialFile = SharedFile<CredentialTable>

extension SharedFile<CredentialTable> {
    init(path: String) { self.init(path: path, kind: .credentials, limit: CredentialStore.longestFile) }

    /// Returns the credentials; none if there is no file. A file that is too long is damaged.
    func table() throws(Errno) -> CredentialTable {
        do throws(Errno) {
            return try read() ?? CredentialTable()
        } catch {
            throw error.code == EFBIG ? StoreFile.damage : error
        }
    }

    /// Makes a change to what the file holds, and returns the result and the state that the file has with it. A damaged
    /// file counts as empty and is moved aside.
    ///
    /// - Throws: the disk's error: it may be full, or read-only. EBUSY: another process holds the lock. EFBIG: the file
    ///   would be too long to be read.
    func update(
        _ change: (inout CredentialTable) -> Void
    ) throws(Errno) -> (table: CredentialTable, state: StoreFile?) {
        try locked { () throws(Errno) in
            let before: CredentialTable
            do throws(Errno) {
                before = try table()
            } catch StoreFile.damage {
                setAside()
                before = CredentialTable()
            }
            var table = before
            change(&table)
            // Read under the lock: later it may be the state of what another process has written.
            return (table, table == before ? state : try write(table))
        }
    }
}

extension CredentialTable: Kept {
    static func keep(_ table: CredentialTable?, in record: inout StoreRecord) throws(Errno) -> Self {
        let written = table?.spaces.flatMap { space, credentials in
            credentials.values.compactMap { Row($0, space, isDefault: table?.defaults[space] == $0) }
        }
        let rows = try record.row(written?.sorted { ($0.host, $0.port, $0.user) < ($1.host, $1.port, $1.user) })
        var kept = CredentialTable()
        for row in rows where row.isComparable {
            let proof = Credential.Proof.password(user: row.user, password: row.password)
            let credential = Credential(proof: proof, persistence: .permanent)
            if row.isDefault {
                _ = kept.setDefault(credential, for: row.space)
            } else {
                _ = kept.set(credential, for: row.space, isFirst: false)
            }
        }
        return kept
    }

    /// A credential in the file.
    struct Row: Kept {
        var host = ""
        var port = 0
        var isProxy = false
        /// The server's protocol, or the proxy's kind.
        var side: String?
        var realm: String?
        var method = ""
        var user = ""
        var password = ""
        var isDefault = false

        static func keep(_ row: Row?, in record: inout StoreRecord) throws(Errno) -> Row {
            var kept = row ?? Row()
            try record.rows(of: row, in: &kept, \.host, \.port, \.isProxy, \.side, \.realm, \.method)
            try record.rows(of: row, in: &kept, \.user, \.password, \.isDefault)
            return kept
        }

        /// Whether no part of the space has a run of combining marks that takes long to compare. Realms are compared
        /// by their octets.
        fileprivate var isComparable: Bool { ![host, side, method].contains { $0.map(MarkRun.isTooLong) ?? false } }

        fileprivate var space: ProtectionSpaceValues {
            ProtectionSpaceValues(
                host: host,
                port: port,
                side: isProxy ? .proxy(side) : .server(side),
                realm: realm,
                method: method
            )
        }
    }
}

extension CredentialTable.Row {
    /// Nil for what is not written: private keys, trust, and credentials for this session only.
    fileprivate init?(_ credential: Credential, _ space: ProtectionSpaceValues, isDefault: Bool) {
        guard credential.persistence == .permanent, case .password(let user, let password) = credential.proof else {
            return nil
        }
        (host, port, isProxy, realm, method) = (space.host, space.port, space.isProxy, space.realm, space.method)
        (self.user, self.password, self.isDefault) = (user, password, isDefault)
        switch space.side {
        case .server(let name), .proxy(let name): side = name
        }
    }
}
