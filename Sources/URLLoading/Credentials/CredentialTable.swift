/// Credentials by space and user, and for some spaces the default, which is tried first.
struct CredentialTable: Equatable, Sendable {
    private(set) var spaces: [ProtectionSpaceValues: [String: Credential]] = [:]
    private(set) var defaults: [ProtectionSpaceValues: Credential] = [:]

    var isEmpty: Bool { spaces.isEmpty && defaults.isEmpty }

    func credentials(for space: ProtectionSpaceValues) -> [String: Credential]? { spaces[space] }

    /// Returns the credential that was set as the space's default, or else was its first; nil once that one has been
    /// removed. A space without a default falls back on the one stored for the same space with the default method.
    func defaultCredential(for space: ProtectionSpaceValues) -> Credential? {
        defaults[space] ?? (Self.passwordMethods.contains(space.method) ? defaults[space.forDefaultMethod] : nil)
    }

    /// The methods that the default method stands for.
    private static let passwordMethods: Set<String> = [
        NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
    ]

    /// - Parameter isFirst: whether no other is known for the space: then it becomes the default.
    /// - Returns: whether anything changed.
    mutating func set(_ credential: Credential, for space: ProtectionSpaceValues, isFirst: Bool) -> Bool {
        guard credential.isStorable, spaces[space]?[credential.name] != credential else { return false }
        spaces[space, default: [:]][credential.name] = credential
        // If the default's user gets another credential, that becomes the default.
        if isFirst || defaults[space]?.name == credential.name { defaults[space] = credential }
        return true
    }

    mutating func setDefault(_ credential: Credential, for space: ProtectionSpaceValues) -> Bool {
        guard credential.isStorable else { return false }
        let isNew = set(credential, for: space, isFirst: false)
        guard defaults[space] != credential else { return isNew }
        defaults[space] = credential
        return true
    }

    /// Makes way for a credential that another table keeps from here on: the same user's is removed.
    ///
    /// - Parameter isDefault: whether it is the default there.
    /// - Returns: whether anything changed.
    mutating func yield(to credential: Credential, for space: ProtectionSpaceValues, isDefault: Bool) -> Bool {
        let before = self
        spaces[space]?[credential.name] = nil
        if spaces[space]?.isEmpty == true { spaces[space] = nil }
        if isDefault {
            defaults[space] = nil
        } else if defaults[space]?.name == credential.name {
            defaults[space] = credential
        }
        return self != before
    }

    /// Removes a user's credential, whatever it is.
    mutating func removeUser(_ name: String, for space: ProtectionSpaceValues) {
        if let credential = spaces[space]?[name] { _ = remove(credential, for: space) }
    }

    mutating func remove(_ credential: Credential, for space: ProtectionSpaceValues) -> Bool {
        var isChanged = false
        if spaces[space]?[credential.name] == credential {
            spaces[space]?[credential.name] = nil
            if spaces[space]?.isEmpty == true { spaces[space] = nil }
            isChanged = true
        }
        if defaults[space] == credential {
            defaults[space] = nil
            isChanged = true
        }
        return isChanged
    }
}
