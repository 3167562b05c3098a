/// `/cookies`, `/cookies/set?a=1`, `/cookies/set/a/1`, `/cookies/delete?a`.
enum CookieRoutes {
    static func cookies(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        switch rest.first {
        case nil: .json(["cookies": .grouping(request.cookies)])
        case "set" where rest.count == 3: set([Pair(name: rest[1], value: rest[2])])
        case "set" where rest.count == 1: set(request.arguments)
        case "delete" where rest.count == 1: delete(request.arguments)
        default: .notFound
        }
    }

    private static func set(_ cookies: [Pair]) -> RouteResponse {
        change(cookies) { "\($0.name)=\($0.value); Path=/" }
    }

    private static func delete(_ cookies: [Pair]) -> RouteResponse {
        change(cookies) { "\($0.name)=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/" }
    }

    private static func change(_ cookies: [Pair], _ text: (Pair) -> String) -> RouteResponse {
        // cookie-name is a token; a ";" in a value would start an attribute (RFC 6265 §4.1.1).
        guard cookies.allSatisfy({ StatusRoutes.isField($0) && !$0.value.utf8.contains(UInt8(ascii: ";")) }) else {
            return .bad("a cookie's name is a token, and its value holds neither controls nor semicolons")
        }
        var response = RouteResponse.redirect(302, to: "/cookies")
        for cookie in cookies { response.fields.append(Pair(name: "Set-Cookie", value: text(cookie))) }
        return response
    }
}
